#include "protocol/conversation.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/call_result.h"
#include "protocol/discovery.h"
#include "protocol/line.h"
#include "base/quote.h"
#include "protocol/request.h"

namespace subako::protocol {

struct Conversation::State {
  enum class Asked : uint8_t { kCall, kDiscover, kList };

  explicit State(Ids& source) : fresh_ids(source) {}

  Ids& fresh_ids;
  Asked asked = Asked::kCall;
  std::string input;
  std::vector<std::string> ids;  // of every request written, the last one last: at most 17
  std::string partial;           // a line whose newline has not come yet; at most L4 of it
  uint64_t stdout_bytes = 0;
  bool closed = false;
  Transcript transcript;
  ToolList list;
  uint32_t pages = 0;
  Refusals refusals;

  void ask(Asked what, std::string_view id_prefix, const auto& request) {
    asked = what;
    ids.push_back(fresh_ids.next(id_prefix));
    input += request(ids.back());
    ++transcript.asked;
  }
  void ask_for_page(const std::optional<std::string>& cursor) {
    ask(Asked::kList, "tools-list", [&](std::string_view id) { return list_request(id, cursor); });
  }

  void violate(Cause cause, std::string message) {
    transcript.violation = Violation{cause, std::move(message)};
  }

  void take(std::string_view bytes);
  void take_line(std::string_view line);
  void take_message(std::string_view line, const Notification&) { (void)line; }
  void take_message(std::string_view line, const NotAMessage& not_a_message);
  void take_message(std::string_view line, const GuestRequest& request);
  void take_message(std::string_view line, const ErrorAnswer& error);
  void take_message(std::string_view line, const Answer& answer);
  void take_call_result(const json::Value& result);
  void take_discovery(const json::Value& result);
  void take_page(const json::Value& result);
  void finish_list();

  [[nodiscard]] bool waiting_for(const json::Value& id) const { return !closed && id_is(id, ids.back()); }
  [[nodiscard]] std::string unasked(const json::Value& id) const;
};

void Conversation::State::take(std::string_view bytes) {
  while (!bytes.empty() && !transcript.violation) {
    const size_t newline = bytes.find('\n');
    if (newline == std::string_view::npos) {
      partial += bytes;
      return;
    }
    if (partial.empty()) {
      take_line(bytes.substr(0, newline));
    } else {
      partial += bytes.substr(0, newline);
      take_line(std::exchange(partial, {}));
    }
    bytes.remove_prefix(newline + 1);
  }
}

void Conversation::State::take_line(std::string_view line) {
  const Line read = read_line(line);
  std::visit([&](const auto& message) { take_message(line, message); }, read);
}

void Conversation::State::take_message(std::string_view line, const NotAMessage& not_a_message) {
  std::string message =
      "the function wrote a line to stdout that is no JSON-RPC message: " + not_a_message.why;
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin != std::string_view::npos) message += "; the line begins " + in_quotes(line);
  violate(Cause::kNotAMessage, std::move(message));
}

void Conversation::State::take_message(std::string_view, const GuestRequest& request) {
  violate(Cause::kGuestRequest, "the function sent a request of its own, " + in_quotes(request.method) +
                                    ", which a stateless server never does");
}

// An error with a null id is JSON-RPC's answer to a request whose id could not be read: it is meant for the
// one asked.
void Conversation::State::take_message(std::string_view, const ErrorAnswer& error) {
  std::string said = "a JSON-RPC error";
  if (!error.code.empty()) said += " " + shortened(error.code);
  if (!error.message.empty()) said += ": " + shortened(error.message);
  if (!error.id.is(json::Kind::kNull) && !waiting_for(error.id)) {
    return violate(Cause::kUnaskedId, unasked(error.id) + "; it was " + said);
  }
  violate(Cause::kJsonRpcError, "the function answered with " + said);
}

void Conversation::State::take_message(std::string_view, const Answer& answer) {
  if (!waiting_for(answer.id)) return violate(Cause::kUnaskedId, unasked(answer.id));
  ++transcript.answered;
  transcript.last_result = answer.result.raw();
  const std::optional<json::Value> type = json::find_non_null(answer.result, "resultType");
  if (type && (!type->is(json::Kind::kString) || json::decode_string(*type) != "complete")) {
    return violate(Cause::kResultType, "the function answered with the resultType " + shortened(type->raw()) +
                                           " instead of \"complete\"");
  }
  switch (asked) {
    case Asked::kCall:
      return take_call_result(answer.result);
    case Asked::kDiscover:
      return take_discovery(answer.result);
    case Asked::kList:
      return take_page(answer.result);
  }
}

std::string Conversation::State::unasked(const json::Value& id) const {
  const bool twice = std::ranges::any_of(ids, [&](const std::string& one) { return id_is(id, one); });
  if (twice) return "the function answered the id " + shortened(id.raw()) + " a second time";
  return "the function answered the id " + shortened(id.raw()) + ", which was not asked";
}

void Conversation::State::take_call_result(const json::Value& result) {
  closed = true;
  if (const auto read = check_call_result(result); !read) {
    violate(Cause::kBadResult, "the function answered with no CallToolResult: " + read.error());
  }
}

void Conversation::State::take_discovery(const json::Value& result) {
  refusals = check_discovery(result);
  if (refusals.empty()) {
    ask_for_page(std::nullopt);
  } else {
    closed = true;
  }
}

void Conversation::State::take_page(const json::Value& result) {
  const std::optional<std::string> cursor = list.add_page(result);
  ++pages;
  if (!cursor) return finish_list();
  if (pages < limits::kToolPages) return ask_for_page(cursor);
  finish_list();
  refusals.push_back({.rule = "U2",
                      .where = "page " + std::to_string(pages),
                      .message = "the answer has a nextCursor, " + in_quotes(*cursor) +
                                 ", so there is a page more than the " + std::to_string(limits::kToolPages) +
                                 " that are asked for",
                      .hint = "put more tools on a page, and leave nextCursor out of the last one"});
}

void Conversation::State::finish_list() {
  closed = true;
  list.finish();
  refusals = list.refusals();
}

Conversation::Conversation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Conversation::Conversation(Conversation&&) noexcept = default;
Conversation& Conversation::operator=(Conversation&&) noexcept = default;
Conversation::~Conversation() = default;

Conversation Conversation::call(Ids& ids, std::string_view tool, std::string_view checked_arguments) {
  auto state = std::make_unique<State>(ids);
  state->ask(State::Asked::kCall, "call",
             [&](std::string_view id) { return call_request(id, tool, checked_arguments); });
  return Conversation(std::move(state));
}

Conversation Conversation::upload(Ids& ids) {
  auto state = std::make_unique<State>(ids);
  state->ask(State::Asked::kDiscover, "discover", discover_request);
  return Conversation(std::move(state));
}

std::string_view Conversation::input() const {
  return state_->input;
}
bool Conversation::input_closed() const {
  return state_->closed;
}

Conversation::Next Conversation::write(std::span<const std::byte> bytes) {
  State& state = *state_;
  if (state.transcript.violation) return Next::kStop;
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const uint64_t room = limits::kStdoutBytes - state.stdout_bytes;
  const bool over = text.size() > room;
  if (over) text = text.substr(0, room);
  state.stdout_bytes += text.size();
  // What fits is judged first: a line that breaks the protocol came before the byte too many.
  state.take(text);
  if (over && !state.transcript.violation) {
    state.violate(Cause::kStdoutLimit, "the function wrote more than " +
                                           std::to_string(limits::kStdoutBytes / limits::kMiB) +
                                           " MiB to stdout, which is the limit of all its output in one run");
  }
  return state.transcript.violation ? Next::kStop : Next::kGoOn;
}

void Conversation::end_of_output() {
  State& state = *state_;
  if (state.partial.empty() || state.transcript.violation) return;
  state.take_line(std::exchange(state.partial, {}));
}

const Transcript& Conversation::transcript() const {
  return state_->transcript;
}
const ToolList& Conversation::tools() const {
  return state_->list;
}
const Refusals& Conversation::refusals() const {
  return state_->refusals;
}
const Warnings& Conversation::warnings() const {
  return state_->list.warnings();
}

}  // namespace subako::protocol
