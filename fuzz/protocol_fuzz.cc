// What guests and bundles say in text, by any bytes (spec: B2, C6, C9, C10, R1-R3, U2, U3). The first byte chooses who reads
// them. No reader fails; each says the same however the bytes come; what it lets through keeps the rules; and its sentences are
// fit for people.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/random.h"
#include "input.h"
#include "protocol/base64.h"
#include "protocol/call_result.h"
#include "protocol/conversation.h"
#include "protocol/discovery.h"
#include "protocol/guest_talk.h"
#include "protocol/json.h"
#include "protocol/line.h"
#include "protocol/manifest.h"
#include "protocol/names.h"
#include "protocol/outcome.h"
#include "protocol/request.h"
#include "protocol/tool_list.h"
#include "require.h"
#include "texts.h"

using namespace subako;
using namespace subako::protocol;
using fuzz::Input;
using fuzz::require;

namespace {

std::optional<json::Value> object(std::string_view text) {
  const auto value = json::parse(text);
  if (!value || !value->is(json::Kind::kObject)) return std::nullopt;
  return *value;
}

void line(std::string_view text) {
  const Line read = read_line(text);
  if (const auto* no = std::get_if<NotAMessage>(&read)) return fuzz::require_sentence(no->why);
  require(object(text).has_value(), "a message is an object", text);
  if (const auto* answer = std::get_if<Answer>(&read))
    require(answer->result.is(json::Kind::kObject), "a result is an object");
}

void check_tools(const ToolList& list) {
  require(!list.tools().empty() && list.tools().size() <= limits::kTools, "1 to 64 tools");
  for (const Tool& tool : list.tools()) {
    require(!name_fault(tool.name), "a tool has a name", tool.name);
    require(!tool.description || utf8::count(*tool.description) <= limits::kDescriptionChars,
            "a description is short");
    require(object(tool.input_schema).has_value(), "an inputSchema is an object");
  }
}

// As core does with what a worker passes on (core/report.cc).
void check_again(const ToolList& list, size_t given) {
  std::string page = R"({"tools":[)";
  for (const Tool& tool : list.tools()) page += (page.back() == '[' ? "" : ",") + tool_json(tool);
  page += "]}";
  ToolList again;
  const auto value = json::parse(page);
  require(value.has_value(), "tools are written as JSON", page);
  (void)again.add_page(*value);
  again.finish();
  require(again.refusals().empty(), "tools that were accepted are accepted again",
          again.refusals().empty() ? "" : again.refusals().front().message);
  require(page.size() <= given + 12, "tools are no larger than they were given: they must fit again", page);
  for (size_t i = 0; i < list.tools().size(); ++i)
    require(tool_json(again.tools()[i]) == tool_json(list.tools()[i]), "and they are the same",
            tool_json(list.tools()[i]));
}

void tool_list(Input input) {
  ToolList list;
  size_t given = 0;  // bytes
  for (int pages = 0; pages < 16 && !input.empty(); ++pages) {
    const auto page = object(input.until('\n'));
    if (!page) continue;
    given += json::compact_size(*page);
    (void)list.add_page(*page);
  }
  list.finish();
  fuzz::check_refusals(list.refusals(), limits::kReportedRefusals + 4);
  fuzz::check_warnings(list.warnings(), limits::kReportedRefusals + 1);
  if (!list.refusals().empty()) return;
  check_tools(list);
  check_again(list, given);
}

void check_path(std::string_view path, bool data_enabled) {
  require(path.starts_with("tmp/") || (data_enabled && path.starts_with("data/")), "a path begins in a tree",
          path);
  require(utf8::valid(path) && !path.contains('\0'), "a path is text");
  const std::string within = "/" + std::string(path) + "/";
  for (const char* part : {"//", "/./", "/../"})
    require(!within.contains(part), "a path has names only", path);
}

void volume_uri(std::string_view uri, bool data_enabled) {
  const auto path = volume_path(uri, data_enabled);
  if (!path) return;
  check_path(*path, data_enabled);
  std::string again = "volume:///";
  for (const char c : *path) {
    static constexpr std::string_view kHex = "0123456789abcdef";
    if (c == '/') {
      again += c;
    } else {
      again += {'%', kHex[static_cast<uint8_t>(c) >> 4U], kHex[static_cast<uint8_t>(c) & 15U]};
    }
  }
  require(volume_path(again, data_enabled) == path, "a path has a URI", again);
}

void call_result(std::string_view text, bool data_enabled) {
  const auto value = object(text);
  if (!value) return;
  const auto read = read_call_result(*value);
  require(read.has_value() == check_call_result(*value).has_value(), "a result is one for both", text);
  if (!read) return fuzz::require_sentence(read.error());
  const auto view = view_of(*read, data_enabled);
  require(view.size() <= read->content.size() + 1, "a block makes one block");
  for (const ViewBlock& block : view) {
    if (block.path) check_path(*block.path, data_enabled);
    if (block.kind == ViewBlock::Kind::kText) continue;
    fuzz::require_line(block.text);
    fuzz::require_line(block.what);
    require(block.text.starts_with('[') && block.text.ends_with(']'), "what is ours is in brackets",
            block.text);
    if (block.kind == ViewBlock::Kind::kPicture)
      require(block.base64 || block.path, "a picture lies somewhere");
  }
}

void manifest(std::string_view text) {
  const auto read = read_manifest(text);
  if (!read) {
    require(!read.error().empty(), "a refusal says why");
    return fuzz::check_refusals(read.error(), 4);
  }
  require(!name_fault(read->manifest.name), "a package has a name", read->manifest.name);
  require(
      !read->manifest.description || utf8::count(*read->manifest.description) <= limits::kDescriptionChars,
      "a description is short");
  fuzz::check_warnings(read->warnings, limits::kReportedRefusals + 1);
}

void arguments(std::string_view text) {
  const auto checked = check_arguments(text);
  if (!checked) return fuzz::require_sentence(checked.error().message);
  const json::Rules rules{.refuse_lone_surrogates = true, .refuse_numbers_outside_double = true};
  const auto value = json::parse(*checked, rules);
  require(value && value->is(json::Kind::kObject) && json::compact(*value) == *checked,
          "arguments are a compact object", *checked);
  const std::string request = call_request("call-1", "tool", *checked);
  require(request.find('\n') == request.size() - 1, "a request is one line", request);
  const auto params = json::find(*object(request), "params");
  require(params && json::find(*params, "arguments")->raw() == *checked, "arguments go on as they are",
          request);
}

std::optional<std::string> slow_base64(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits),
                       [](char c) { return c != ' ' && (c < '\t' || c > '\r'); });
  for (int padding = 0; padding < 2 && digits.ends_with('='); ++padding) digits.pop_back();
  std::string bits;
  for (const char c : digits) {
    const size_t value =
        std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (value == std::string_view::npos) return std::nullopt;
    for (int bit = 5; bit >= 0; --bit) bits += (value >> bit & 1U) != 0 ? '1' : '0';
  }
  if (digits.size() % 4 == 1) return std::nullopt;
  std::string out;
  for (size_t at = 0; at + 8 <= bits.size(); at += 8)
    out += static_cast<char>(std::stoi(bits.substr(at, 8), nullptr, 2));
  return out;
}

void base64(Input input) {
  const size_t most = input.byte();
  const std::string_view text = input.rest();
  const auto expected = slow_base64(text);
  const auto got = decode_base64(text, size_t{1} << 20U);
  require(got.has_value() == expected.has_value(), "both decode or neither does", text);
  if (got) require(*got == *expected, "both decode the same", text);
  const auto bounded = decode_base64(text, most);
  if (expected && expected->size() <= most)
    require(bounded && *bounded == *expected, "the most is enough for what is no more", text);
  if (bounded) require(bounded->size() <= most, "no more than the most");
  const auto back = decode_base64(encode_base64(text), text.size());
  require(back && *back == text, "what was encoded is decoded", text);
}

// What may differ between two talks of the same bytes: nothing.
std::string told(const Conversation& talk) {
  const Transcript& said = talk.transcript();
  std::string all = std::to_string(said.asked) + " " + std::to_string(said.answered) + " " + said.last_result;
  if (said.violation) all += std::string(cause_name(said.violation->cause)) + said.violation->message;
  for (const Refusal& refusal : talk.refusals()) all += refusal.where + refusal.message;
  return all + std::string(talk.input());
}

void check_input(const Conversation& talk) {
  const std::string_view input = talk.input();
  require(input.ends_with('\n'), "requests are lines");
  require(static_cast<size_t>(std::ranges::count(input, '\n')) == talk.transcript().asked,
          "a line for each request");
  require(object(input.substr(0, input.find('\n'))).has_value(), "a request is JSON");
}

void check_talk(const Conversation& talk, bool upload) {
  const Transcript& said = talk.transcript();
  require(said.answered <= said.asked && said.asked <= limits::kToolPages + 1,
          "answers come to what was asked");
  check_input(talk);
  if (said.violation) fuzz::require_sentence(said.violation->message);
  fuzz::check_refusals(talk.refusals(), limits::kReportedRefusals + 5);
  const Outcome outcome = judge({.transcript = said, .ending = Exited{0}, .upload = upload});
  if (std::holds_alternative<Answered>(outcome)) {
    require(!said.violation && said.answered == said.asked && talk.input_closed(), "an answer answers all");
    if (upload && talk.refusals().empty()) check_tools(talk.tools());
  } else {
    fuzz::require_sentence(std::get<Crash>(outcome).message);
  }
}

Conversation begin(Ids& ids, bool upload) {
  return upload ? Conversation::upload(ids) : Conversation::call(ids, "tool", "{}");
}

void conversation(Input input, bool upload) {
  const size_t cut = 1 + input.byte();
  Ids ids;
  Conversation talk = begin(ids, upload);
  std::string written;
  while (!input.empty()) {
    const std::string_view said = input.until('\n');
    // The last line may be without its end.
    const std::string bytes = with_id(std::string(said), last_id(talk)) + (input.empty() ? "" : "\n");
    written += bytes;
    if (talk.write(std::as_bytes(std::span(bytes))) == Conversation::Next::kStop) break;
  }
  talk.end_of_output();
  check_talk(talk, upload);

  Ids same_ids;
  Conversation other = begin(same_ids, upload);
  for (size_t at = 0; at < written.size(); at += cut)
    (void)other.write(std::as_bytes(std::span(written).subspan(at, std::min(cut, written.size() - at))));
  other.end_of_output();
  require(told(other) == told(talk), "it is the same however the bytes are cut",
          told(talk) + "\n" + told(other));
}

void discovery(std::string_view text) {
  if (const auto value = object(text)) fuzz::check_refusals(check_discovery(*value), 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const uint8_t who = input.byte();
  const bool data_enabled = (who & 0x20U) == 0;  // a capital letter's
  switch (who | 0x20U) {
    case 'l':
      line(input.rest());
      break;
    case 'c':
      conversation(input, false);
      break;
    case 'u':
      conversation(input, true);
      break;
    case 't':
      tool_list(input);
      break;
    case 'r':
      call_result(input.rest(), data_enabled);
      break;
    case 'v':
      volume_uri(input.rest(), data_enabled);
      break;
    case 'm':
      manifest(input.rest());
      break;
    case 'a':
      arguments(input.rest());
      break;
    case 'b':
      base64(input);
      break;
    case 'd':
      discovery(input.rest());
      break;
    default:
      break;
  }
  return 0;
}
