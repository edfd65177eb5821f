// Writes the corpus of reports_fuzz.cc: messages as honest children send them, and a few that none sends.
#include <string>

#include "child/envelope.h"
#include "child/messages.pb.h"
#include "child/wire.h"
#include "protocol/outcome.h"
#include "seed_file.h"
#include "worker/wire.h"

using namespace subako;

namespace {

child::FromWorker answered(const std::string& result) {
  child::FromWorker message;
  child::Ended& ended = *message.mutable_ended();
  ended.set_run(7);
  ended.mutable_answered()->set_result(result);
  ended.set_stderr("log \xff\n");
  ended.set_stderr_left_out(3);
  child::Measured& measured = *ended.mutable_measured();
  measured.set_run_ms(1.5);
  measured.set_cpu_ms(-1);
  measured.set_written_bytes(9);
  child::HttpExchange& exchange = *measured.add_http();
  exchange.set_origin("https://example.com");
  exchange.set_status(200);
  return message;
}

child::FromWorker crashed(protocol::Cause cause, bool out_of_memory = false) {
  child::FromWorker message;
  *message.mutable_ended()->mutable_crashed() = worker::to_wire(
      protocol::Crash{cause, "the function trapped", out_of_memory, {"greet::main (module.wasm byte 1)"}});
  *message.mutable_ended()->mutable_crashed()->add_refusals() =
      child::to_wire(Refusal{"U3", "page 1", "no name", "give one"});
  *message.mutable_ended()->mutable_crashed()->add_warnings() =
      child::to_wire(Warning{"U3", "page 1", "odd"});
  return message;
}

child::FromWorker tools(const std::string& name, const std::string& schema) {
  child::FromWorker message;
  protocol::Tool tool{.name = name,
                      .description = "d",
                      .input_schema = schema,
                      .output_schema = "{}",
                      .title = "\"T\"",
                      .annotations = "{}",
                      .icons = "[]",
                      .meta = "{}"};
  *message.mutable_ended()->mutable_answered()->add_tools() = worker::to_wire(tool);
  tool.name += "2";
  *message.mutable_ended()->mutable_answered()->add_tools() = worker::to_wire(tool);
  return message;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const fuzz::SeedFolder folder(argv[1]);
  const auto save = [&](const std::string& name, char whose, const auto& message) {
    folder.save(name, whose + child::encode(message));
  };

  save("answered", 'w', answered(R"({"content":[{"type":"text","text":"ok"}]})"));
  save("answered_no_object", 'w', answered("[]"));
  save("answered_no_result", 'w', answered("{}"));
  for (const auto cause : {protocol::Cause::kTrap, protocol::Cause::kTimeout, protocol::Cause::kStdoutLimit,
                           protocol::Cause::kNoExit, protocol::Cause::kNotAMessage,
                           protocol::Cause::kBadResult, protocol::Cause::kNoAnswer, protocol::Cause::kHost})
    save("crashed_" + std::string(protocol::cause_name(cause)), 'w', crashed(cause));
  save("out_of_memory", 'w', crashed(protocol::Cause::kTrap, true));
  child::FromWorker message = crashed(protocol::Cause::kTrap);
  message.mutable_ended()->mutable_crashed()->set_cause("strange");
  save("crashed_strangely", 'w', message);
  save("tools", 'w', tools("greet", R"({"type":"object"})"));
  save("tools_wrong", 'w', tools("greet", R"({"type":"array"})"));
  save("tools_no_json", 'w', tools("greet", "{"));
  save("tools_no_name", 'w', tools("Not a name", "{}"));
  message = {};
  for (int i = 0; i < 65; ++i) message.mutable_ended()->mutable_answered()->add_tools();
  save("tools_many", 'w', message);
  message = {};
  *message.mutable_ended()->mutable_answered()->add_refusals() =
      child::to_wire(Refusal{"U3", "page 1", "no name", "give one"});
  save("refused", 'w', message);
  message = {};
  message.mutable_ended()->mutable_cancelled();
  save("cancelled", 'w', message);
  message = {};
  message.mutable_ended();
  save("no_outcome", 'w', message);
  message = {};
  message.mutable_stderr()->set_text("\xff");
  save("stderr", 'w', message);

  child::FromBuilder builder;
  builder.mutable_unpacked()->set_name("greet");
  builder.mutable_unpacked()->set_description("d");
  builder.mutable_unpacked()->set_module_bytes(8);
  *builder.mutable_unpacked()->add_warnings() = child::to_wire(Warning{"B3", "x", "odd"});
  save("unpacked", 'b', builder);
  builder.mutable_unpacked()->set_asset_bytes(uint64_t{1} << 40U);
  save("unpacked_huge", 'b', builder);
  builder.mutable_unpacked()->set_description(std::string(1025, 'x'));
  save("unpacked_description", 'b', builder);
  builder.mutable_unpacked()->set_name("A");
  save("unpacked_name", 'b', builder);
  builder = {};
  builder.mutable_compiled()->set_compiled_bytes(1000);
  builder.mutable_compiled()->set_identity("id");
  save("compiled", 'b', builder);
  builder.mutable_compiled()->set_compiled_bytes(0);
  save("compiled_nothing", 'b', builder);
  builder.mutable_compiled()->set_compiled_bytes(uint64_t{1} << 40U);
  save("compiled_huge", 'b', builder);
  builder = {};
  *builder.mutable_refused()->add_refusals() = child::to_wire(Refusal{"B1", "x", "no", ""});
  *builder.mutable_refused()->add_warnings() = child::to_wire(Warning{"B1", "x", "no"});
  save("refused_bundle", 'b', builder);
  builder = {};
  for (int i = 0; i < 1002; ++i) {
    builder.mutable_refused()->add_refusals();
    builder.mutable_refused()->add_warnings();
  }
  save("refused_much", 'b', builder);

  child::ToWorker start;
  start.mutable_start_run()->set_package("greet");
  for (const char* path : {"/volume/tmp", "/skills", "/skills/a"}) {
    child::Preopen& preopen = *start.mutable_start_run()->add_preopens();
    preopen.set_path(path);
    preopen.set_has_tree(path != std::string("/skills"));
    preopen.set_writable(path == std::string("/volume/tmp"));
  }
  start.mutable_start_run()->mutable_call()->set_tool("greet");
  save("start", 't', start);
  child::ToBuilder job;
  job.mutable_picture()->set_longest_side(2000);
  save("picture", 's', job);
}
