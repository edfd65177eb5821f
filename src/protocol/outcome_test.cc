#include "protocol/outcome.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/utf8.h"
#include "protocol/guest_talk.h"

namespace subako::protocol {
namespace {

Ids& fresh_ids() {
  static Ids source;
  return source;
}

using namespace std::chrono_literals;

// Runs stdout bytes through a call's Conversation as a worker does, and judges.
struct GuestRun {
  std::string name;
  std::string stdout_bytes;
  Ending ending = Exited{0};
  bool growth_refused = false;
};

Observed observe(const GuestRun& run) {
  Conversation talk = Conversation::call(fresh_ids(), "greet", "{}");
  say(talk, run.stdout_bytes);
  Ending ending = run.ending;
  if (talk.transcript().violation) {
    ending = Stopped{};
  } else if (std::holds_alternative<Exited>(ending)) {
    talk.end_of_output();
  }
  return {.transcript = talk.transcript(),
          .ending = ending,
          .growth_refused = run.growth_refused,
          .time_limit = 60s,
          .upload = false};
}

std::string error(const std::string& id, const std::string& body) {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":)" + body + "}\n";
}

TEST(Outcome, every_way_to_crash) {  // spec: C9
  struct Row {
    GuestRun run;
    Cause cause;
    std::string message;  // part of it
    bool out_of_memory = false;
  };
  const std::string ok = answer(kGoodResult);
  const Ending trap = Trapped{"wasm trap: wasm `unreachable` instruction executed",
                              {"greet::main (module.wasm byte 0x1f3a)"}};
  const Ending timeout = RanOut{{"spin"}};
  for (const Row& row : std::vector<Row>{
           {{"error", error("\"$ID\"", R"({"code":-32602,"message":"missing field `name`"})")},
            Cause::kJsonRpcError,
            "the function answered with a JSON-RPC error -32602: missing field `name`"},
           {{"error, null id", error("null", R"({"code":-32700,"message":"parse error"})")},
            Cause::kJsonRpcError,
            "a JSON-RPC error -32700: parse error"},
           {{"error without code", error("\"$ID\"", "{}")},
            Cause::kJsonRpcError,
            "answered with a JSON-RPC error"},
           {{"error of another id", error("7", R"({"code":1,"message":"m"})")},
            Cause::kUnaskedId,
            "answered the id 7, which was not asked; it was a JSON-RPC error 1: m"},
           {{"error after the answer", ok + error("\"$ID\"", "{}")}, Cause::kUnaskedId, "a second time"},
           {{"null-id error after the answer", ok + error("null", "{}")},
            Cause::kJsonRpcError,
            "JSON-RPC error"},
           {{"resultType", answer(R"({"content":[],"resultType":"input_required"})")},
            Cause::kResultType,
            R"(resultType "input_required")"},
           {{"resultType no string", answer(R"({"content":[],"resultType":1})")},
            Cause::kResultType,
            "resultType 1 instead"},
           {{"no JSON", "{\"a hello world\n"},
            Cause::kNotAMessage,
            "the function wrote a line to stdout that is no JSON-RPC message: it isn't JSON (byte 15: the "
            "text ends too early); "
            "the line begins \"{\"a hello world\""},
           {{"log line", "starting up\n" + ok}, Cause::kNotAMessage, "begins \"starting up\""},
           {{"long line", std::string(5000, 'y') + "\n"},
            Cause::kNotAMessage,
            "\"" + std::string(200, 'y') + "…\""},
           {{"terminal escapes", "\x1b[31mred\n"}, Cause::kNotAMessage, "\\x1b[31mred"},
           {{"blank line", "\n"}, Cause::kNotAMessage, "the line is blank"},
           {{"blank line after the answer", ok + "\n"}, Cause::kNotAMessage, "the line is blank"},
           {{"carriage return alone", "\r\n"}, Cause::kNotAMessage, "the line is blank"},
           {{"byte order mark", "\xef\xbb\xbf" + ok}, Cause::kNotAMessage, "a byte order mark"},
           {{"batch", "[" + ok.substr(0, ok.size() - 1) + "]\n"}, Cause::kNotAMessage, "batches"},
           {{"result and error", R"({"jsonrpc":"2.0","id":"$ID","result":{},"error":{}})"
                                 "\n"},
            Cause::kNotAMessage,
            "both"},
           {{"jsonrpc 1.0", R"({"jsonrpc":"1.0","id":"$ID","result":{}})"
                            "\n"},
            Cause::kNotAMessage,
            "\"1.0\""},
           {{"no id", R"({"jsonrpc":"2.0","result":{}})"
                      "\n"},
            Cause::kNotAMessage,
            "\"id\""},
           {{"junk at exit", ok + "junk"}, Cause::kNotAMessage, "\"junk\""},
           {{"wrong id", R"({"jsonrpc":"2.0","id":"other","result":{}})"
                         "\n" +
                             ok},
            Cause::kUnaskedId,
            R"(id "other", which was not asked)"},
           {{"null id", R"({"jsonrpc":"2.0","id":null,"result":{}})"
                        "\n"},
            Cause::kUnaskedId,
            "id null, which was not asked"},
           {{"twice", ok + ok}, Cause::kUnaskedId, "a second time"},
           {{"request", R"({"jsonrpc":"2.0","id":1,"method":"roots/list"})"
                        "\n"},
            Cause::kGuestRequest,
            "a request of its own, \"roots/list\""},
           {{"request after the answer", ok + R"({"jsonrpc":"2.0","id":null,"method":"x"})"
                                              "\n"},
            Cause::kGuestRequest,
            "request"},
           {{"no answer", ""}, Cause::kNoAnswer, "the function exited with code 0 before it had answered"},
           {{"no answer but a notification", R"({"jsonrpc":"2.0","method":"x"})"
                                             "\n"},
            Cause::kNoAnswer,
            "before it had answered"},
           {{"no answer, exit code", "", Exited{3}},
            Cause::kExitCode,
            "exited with code 3 before it had answered"},
           {{"exit code", ok, Exited{3}},
            Cause::kExitCode,
            "the function exited with code 3 after it had answered"},
           {{"exit code -1", ok, Exited{0xffffffff}}, Cause::kExitCode, "code 4294967295"},
           {{"no exit", ok, RanOut{}}, Cause::kNoExit, "did not exit within 1 s"},
           {{"trap", "", trap},
            Cause::kTrap,
            "the function trapped before it had answered: wasm `unreachable` instruction executed"},
           {{"trap after the answer", ok, trap}, Cause::kTrap, "trapped after it had answered"},
           {{"timeout", "", timeout},
            Cause::kTimeout,
            "ran out of time: it had not answered after 60 s (its timeout)"},
           {{"timeout with half a line", answer(kGoodResult).substr(0, 30), timeout},
            Cause::kTimeout,
            "60 s"},
           {{"stdout", std::string(limits::kStdoutBytes + 1, 'x')},
            Cause::kStdoutLimit,
            "more than 1 MiB to stdout"},
           {{"stdout after the answer", ok + std::string(limits::kStdoutBytes, 'x')},
            Cause::kStdoutLimit,
            "1 MiB"},
           {{"no content", answer("{}")}, Cause::kBadResult, "neither content nor structuredContent"},
           {{"content no array", answer(R"({"content":"x"})")},
            Cause::kBadResult,
            "content is no array but \"x\""},
           {{"isError no boolean", answer(R"({"content":[],"isError":"yes"})")},
            Cause::kBadResult,
            "isError is no boolean"},
           {{"host", "", HostFailed{"the worker died\n"}},
            Cause::kHost,
            "not the function's fault: the worker died\\n"},
           {{"stopped by us for nothing", "", Stopped{}}, Cause::kHost, "without a recorded reason"},
           {{"trap when memory is full", "", trap, true},
            Cause::kTrap,
            "out of memory (the limit is 512 MiB)",
            true},
           {{"exit code when memory is full", "", Exited{2}, true},
            Cause::kExitCode,
            "out of memory (the limit is 512 MiB)",
            true},
           {{"no answer when memory was full", "", Exited{0}, true},
            Cause::kNoAnswer,
            "exited with code 0",
            false},
           {{"violation when memory was full", "x\n", trap, true},
            Cause::kNotAMessage,
            "no JSON-RPC message",
            false}}) {
    const Outcome outcome = judge(observe(row.run));
    const auto* crash = std::get_if<Crash>(&outcome);
    ASSERT_NE(crash, nullptr) << row.run.name;
    EXPECT_EQ(cause_name(crash->cause), cause_name(row.cause)) << row.run.name << ": " << crash->message;
    EXPECT_NE(crash->message.find(row.message), std::string::npos) << row.run.name << ": " << crash->message;
    EXPECT_EQ(crash->message.find('\n'), std::string::npos) << row.run.name;
    EXPECT_LT(crash->message.size(), 1000U) << row.run.name;
    EXPECT_EQ(crash->out_of_memory, row.out_of_memory) << row.run.name;
  }
}

TEST(Outcome, ways_to_answer) {  // spec: C6, C8, C9
  const std::string notification = R"({"jsonrpc":"2.0","method":"notifications/progress"})"
                                   "\n";
  std::string unfinished = answer(kGoodResult);
  unfinished.pop_back();
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"plain", answer(kGoodResult)},
      {"without the last newline", unfinished},
      {"carriage return", unfinished + "\r\n"},
      {"notifications around", notification + answer(kGoodResult) + notification},
      {"resultType complete", answer(R"({"content":[],"resultType":"complete"})")},
      {"resultType null", answer(R"({"content":[],"resultType":null})")},
      {"content null", answer(R"({"content":null,"structuredContent":1e999})")},
      {"lone surrogate", answer(R"({"content":[{"type":"text","text":"\ud800"}]})")},
  };
  for (const auto& [name, bytes] : rows) {
    const Outcome outcome = judge(observe({.name = name, .stdout_bytes = bytes}));
    EXPECT_TRUE(std::holds_alternative<Answered>(outcome))
        << name << ": "
        << (std::holds_alternative<Crash>(outcome) ? std::get<Crash>(outcome).message : "cancelled");
  }
  const std::string spelt = R"({ "content" : [ ], "x":-0.0 })";
  const Outcome outcome = judge(observe({.name = "untouched", .stdout_bytes = answer(spelt)}));
  EXPECT_EQ(std::get<Answered>(outcome).result, spelt);
  EXPECT_TRUE(
      std::holds_alternative<Answered>(judge(observe({"grew", answer(kGoodResult), Exited{0}, true}))));
}

TEST(Outcome, backtraces_are_passed_on) {  // spec: C9
  const Outcome trapped = judge({.transcript = {.asked = 1}, .ending = Trapped{"wasm trap: x", {"a", "b"}}});
  EXPECT_EQ(std::get<Crash>(trapped).backtrace, (std::vector<std::string>{"a", "b"}));
  const Outcome ran_out =
      judge({.transcript = {.asked = 1}, .ending = RanOut{{"spin"}}, .time_limit = 1500ms});
  EXPECT_EQ(std::get<Crash>(ran_out).backtrace, std::vector<std::string>{"spin"});
  EXPECT_NE(std::get<Crash>(ran_out).message.find("after 1.5 s (its timeout)"), std::string::npos);
}

TEST(Outcome, the_upload_check_names_its_own_limit) {  // spec: U1, L10
  const Outcome outcome = judge(
      {.transcript = {.asked = 2, .answered = 1}, .ending = RanOut{}, .time_limit = 10s, .upload = true});
  EXPECT_EQ(std::get<Crash>(outcome).cause, Cause::kTimeout);
  EXPECT_NE(std::get<Crash>(outcome).message.find("after 10 s (the limit of the upload check)"),
            std::string::npos);
}

TEST(Outcome, cancelled_is_no_crash_but_a_violation_came_first) {  // spec: C12
  EXPECT_TRUE(
      std::holds_alternative<WasCancelled>(judge({.transcript = {.asked = 1}, .ending = Cancelled{}})));
  EXPECT_TRUE(std::holds_alternative<WasCancelled>(
      judge({.transcript = {.asked = 1, .answered = 1}, .ending = Cancelled{}})));
  const Transcript violated{.asked = 1, .violation = Violation{Cause::kGuestRequest, "it asked"}};
  EXPECT_EQ(std::get<Crash>(judge({.transcript = violated, .ending = Cancelled{}})).cause,
            Cause::kGuestRequest);
  EXPECT_EQ(std::get<Crash>(judge({.transcript = violated, .ending = Exited{5}})).cause,
            Cause::kGuestRequest);
}

TEST(Outcome, causes_have_names) {  // spec: C9
  for (int i = 0; i <= static_cast<int>(Cause::kHost); ++i) {
    const auto cause = static_cast<Cause>(i);
    EXPECT_EQ(cause_from_name(cause_name(cause)), cause) << i;
  }
  EXPECT_EQ(cause_name(Cause::kStdoutLimit), "stdout_limit");
  EXPECT_EQ(cause_from_name("nothing"), std::nullopt);
}

TEST(CrashText, tells_the_model_that_it_crashed_and_the_end_of_stderr) {  // spec: C9, L5
  EXPECT_EQ(crash_text_for_model(""), "The function crashed.");
  EXPECT_EQ(crash_text_for_model("boom\n"), "The function crashed. The end of its stderr:\nboom\n");
  std::string japanese;
  while (japanese.size() < 80'000) japanese += "日";
  const std::string text = crash_text_for_model(japanese);
  EXPECT_TRUE(utf8::valid(text));
  EXPECT_EQ(text.find("\xef\xbf\xbd"), std::string::npos);
  const std::string begin = "The function crashed. The end of its stderr:\n";
  EXPECT_EQ(text.size(), begin.size() + 4095);
  EXPECT_NE(crash_text_for_model("a\xff").find("a\xef\xbf\xbd"), std::string::npos);
}

TEST(Outcome, after_the_node_refused_memory_no_crash_is_the_guests_fault) {  // spec: C9, L2
  for (const GuestRun& run : std::vector<GuestRun>{{"trap", "", Trapped{"wasm trap: unreachable", {"main"}}},
                                                   {"exit", "", Exited{1}},
                                                   {"text", "out of memory\n"},
                                                   {"error", error("\"$ID\"", R"({"code":-1,"message":"no memory"})")},
                                                   {"never began", "", HostFailed{"memory minimum size"}}}) {
    Observed observed = observe(run);
    observed.node_out_of_memory = true;
    const Outcome outcome = judge(observed);
    const auto* crash = std::get_if<Crash>(&outcome);
    ASSERT_NE(crash, nullptr) << run.name;
    EXPECT_EQ(crash->cause, Cause::kHost) << run.name;
    EXPECT_FALSE(crash->out_of_memory) << run.name;
    EXPECT_TRUE(crash->message.starts_with("this node is out of memory for guests: try again in a moment (")) << crash->message;
  }
  Observed answered = observe({"answers all the same", answer(kGoodResult)});
  answered.node_out_of_memory = true;
  EXPECT_TRUE(std::holds_alternative<Answered>(judge(answered)));
}

}  // namespace
}  // namespace subako::protocol
