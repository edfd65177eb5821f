// Any bytes as a message between core and a child (child/messages.proto), and what core makes of a child's report
// (core/report.h). A message that is one is the same when it is written again. What is let through is what an honest child could
// have said: known causes, tools that keep U3, numbers that are numbers, texts and lists of a length.
//
// The first byte says whose message it is: 'w' from a worker, 'b' from a builder, 't' to a worker, 's' to a builder.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/utf8.h"
#include "child/envelope.h"
#include "child/messages.pb.h"
#include "core/render.h"
#include "core/report.h"
#include "guest_world.h"
#include "input.h"
#include "protocol/json.h"
#include "protocol/names.h"
#include "require.h"
#include "worker/wire.h"

using namespace subako;
using fuzz::require;

namespace {

constexpr size_t kMostText = limits::kReportedTextBytes + 3;  // with an ellipsis

template <class Message>
std::optional<Message> decoded(std::string_view body) {
  auto message = child::decode<Message>(body);
  if (!message) return message;
  const std::string bytes = child::encode(*message);
  const auto again = child::decode<Message>(bytes);
  require(again && child::encode(*again) == bytes, "a message is the same when it is written again");
  return message;
}

void check_text(std::string_view text) {
  require(text.size() <= kMostText && utf8::valid(text), "a text has a most and is UTF-8");
}

void check_refusals(const Refusals& refusals) {
  require(refusals.size() <= limits::kReportedItems + 2, "refusals have a most");
  for (const Refusal& refusal : refusals) {
    check_text(refusal.rule);
    check_text(refusal.where);
    check_text(refusal.hint);
  }
}

void check_warnings(const Warnings& warnings) {
  require(warnings.size() <= limits::kReportedItems + 1, "warnings have a most");
  for (const Warning& warning : warnings) check_text(warning.message);
}

void check_measures(const core::Measures& measures) {
  for (const double ms :
       {measures.instantiate_ms, measures.start_ms, measures.run_ms, measures.exit_ms, measures.cpu_ms})
    require(std::isfinite(ms) && ms >= 0, "a duration is one");
  require(measures.http.size() <= limits::kReportedItems, "exchanges have a most");
}

void check_crash(const protocol::Crash& crash) {
  check_text(crash.message);
  require(crash.backtrace.size() <= limits::kReportedItems, "a backtrace has a most");
  require(protocol::cause_from_name(protocol::cause_name(crash.cause)) == crash.cause, "a cause is known");
}

void check_call(const child::Ended& ended) {
  const auto record = core::call_record_of(ended);
  if (!record) return require(!record.error().empty(), "what is wrong is said");
  check_measures(record->measures);
  require(record->stderr_kept.size() <= limits::kStderrKeptBytes, "stderr has a most");
  if (const auto* crash = std::get_if<protocol::Crash>(&record->outcome)) check_crash(*crash);
  if (const auto* answered = std::get_if<protocol::Answered>(&record->outcome))
    require(json::parse(answered->result).has_value(), "a result is JSON", answered->result);
  for (const protocol::ViewBlock& block : core::view_of(*record))
    require(utf8::valid(block.text), "what the model reads is UTF-8");
}

void check_upload(const child::Ended& ended) {
  const auto report = core::upload_report_of(ended);
  if (!report) return require(!report.error().empty(), "what is wrong is said");
  check_measures(report->measures);
  check_warnings(report->warnings);
  if (report->host_fault) return check_crash(*report->host_fault);
  if (report->cancelled) return;
  if (const auto* refused = std::get_if<core::Refused>(&report->verdict)) {
    require(!refused->refusals.empty(), "a refusal says why");
    require(refused->stderr_tail.size() <= limits::kStderrToldBytes && utf8::valid(refused->stderr_tail),
            "of stderr a little is told");
    return check_refusals(refused->refusals);
  }
  const auto& tools = std::get<std::vector<protocol::Tool>>(report->verdict);
  require(!tools.empty() && tools.size() <= limits::kTools, "there are 1 to 64 tools");
  for (const protocol::Tool& tool : tools) {
    require(!protocol::name_fault(tool.name), "a tool has a name", tool.name);
    require(json::parse(tool.input_schema).has_value(), "a schema is JSON", tool.input_schema);
  }
}

void from_worker(std::string_view body) {
  const auto message = decoded<child::FromWorker>(body);
  if (!message || !message->has_ended()) return;
  check_call(message->ended());
  check_upload(message->ended());
}

void from_builder(std::string_view body) {
  const auto message = decoded<child::FromBuilder>(body);
  if (!message) return;
  if (message->has_refused()) {
    check_refusals(core::refusals_of(message->refused().refusals()));
    check_warnings(core::warnings_of(message->refused().warnings()));
  }
  core::BuiltPackage package;
  if (message->has_compiled() && core::add_compiled(package, message->compiled()))
    require(package.compiled_bytes > 0 && package.compiled_bytes <= limits::kCompiledBytes,
            "a compiled module has a size");
  if (!message->has_unpacked()) return;
  const auto built = core::unpacked_of(message->unpacked());
  if (!built) return require(!built.error().empty(), "what is wrong is said");
  require(!protocol::name_fault(built->name), "a package has a name", built->name);
  check_warnings(built->warnings);
}

void to_worker(std::string_view body) {
  const auto message = decoded<child::ToWorker>(body);
  if (!message || !message->has_start_run()) return;
  const child::StartRun& start = message->start_run();
  const fuzz::HeldClock clock;
  fuzz::Streams streams;
  fuzz::Tasks tasks;
  wasi::Host host(worker::world_of(start, 1, limits::kDescriptors, nullptr), clock, streams, tasks);
  std::vector<Fd> trees;
  trees.emplace_back();
  worker::bind_trees(start, std::move(trees), host);
  require(host.roots().size() == static_cast<size_t>(start.preopens_size()), "each preopen is one");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  child::silence_decoding();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  switch (input.byte()) {
    case 'w':
      from_worker(input.rest());
      break;
    case 'b':
      from_builder(input.rest());
      break;
    case 't':
      to_worker(input.rest());
      break;
    default:
      (void)decoded<child::ToBuilder>(input.rest());
  }
  return 0;
}
