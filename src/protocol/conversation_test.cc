#include "protocol/conversation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/limits.h"
#include "protocol/guest_talk.h"

namespace subako::protocol {
namespace {

Ids& fresh_ids() {
  static Ids source;
  return source;
}

using Next = Conversation::Next;

std::string page(const std::string& name, const std::string& more = "") {
  return answer(R"({"tools":[{"name":")" + name + R"(","inputSchema":{"type":"object"}}])" + more + "}");
}

TEST(Conversation, a_call_is_one_request_and_its_answer) {  // spec: C3, C5
  Conversation talk = Conversation::call(fresh_ids(), "greet", "{}");
  EXPECT_NE(talk.input().find(R"("method":"tools/call","params":{"name":"greet","arguments":{},"_meta")"),
            std::string_view::npos);
  EXPECT_TRUE(talk.input().ends_with("\n"));
  const size_t written = talk.input().size();
  EXPECT_FALSE(talk.input_closed());
  EXPECT_EQ(talk.transcript().asked, 1U);
  EXPECT_EQ(say(talk, answer(kGoodResult)), Next::kGoOn);
  EXPECT_TRUE(talk.input_closed());
  EXPECT_EQ(talk.input().size(), written);
  EXPECT_EQ(talk.transcript().answered, 1U);
  EXPECT_EQ(talk.transcript().last_result, kGoodResult);
}

TEST(Conversation, ids_are_fresh_strings) {  // spec: C4
  std::set<std::string> ids;
  for (int i = 0; i < 50; ++i) {
    ids.insert(last_id(Conversation::call(fresh_ids(), "greet", "{}")));
    ids.insert(last_id(Conversation::upload(fresh_ids())));
  }
  EXPECT_EQ(ids.size(), 100U);
}

TEST(Conversation, lines_may_come_in_any_pieces) {  // spec: C6
  Conversation talk = Conversation::call(fresh_ids(), "greet", "{}");
  const std::string text = with_id("{\"jsonrpc\":\"2.0\",\"method\":\"log\"}\n" + answer(kGoodResult) +
                                       "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\r\n",
                                   last_id(talk));
  for (const char c : text) EXPECT_EQ(say(talk, std::string(1, c)), Next::kGoOn);
  talk.end_of_output();
  EXPECT_FALSE(talk.transcript().violation.has_value());
  EXPECT_EQ(talk.transcript().answered, 1U);
}

TEST(Conversation, bytes_after_the_last_newline_are_a_line_at_exit) {  // spec: C6
  Conversation talk = Conversation::call(fresh_ids(), "greet", "{}");
  std::string unfinished = answer(kGoodResult);
  unfinished.pop_back();
  EXPECT_EQ(say(talk, unfinished), Next::kGoOn);
  EXPECT_FALSE(talk.input_closed());
  talk.end_of_output();
  EXPECT_TRUE(talk.input_closed());
  EXPECT_EQ(talk.transcript().answered, 1U);

  Conversation junk = Conversation::call(fresh_ids(), "greet", "{}");
  say(junk, answer(kGoodResult) + "bye");
  EXPECT_FALSE(junk.transcript().violation.has_value());
  junk.end_of_output();
  ASSERT_TRUE(junk.transcript().violation.has_value());
  EXPECT_EQ(junk.transcript().violation->cause, Cause::kNotAMessage);
}

TEST(Conversation, nothing_is_heard_after_a_violation) {  // spec: C9
  Conversation talk = Conversation::call(fresh_ids(), "greet", "{}");
  EXPECT_EQ(say(talk, "first\n" + answer(kGoodResult)), Next::kStop);
  EXPECT_EQ(talk.transcript().answered, 0U);
  EXPECT_EQ(say(talk, answer(kGoodResult)), Next::kStop);
  talk.end_of_output();
  EXPECT_EQ(talk.transcript().answered, 0U);
  EXPECT_NE(talk.transcript().violation->message.find("\"first\""), std::string::npos);
}

TEST(Conversation, stdout_holds_exactly_one_mebibyte) {  // spec: L4
  const auto filled = [](Conversation& talk, size_t size) {
    std::string text = with_id(answer(kGoodResult), last_id(talk));
    const std::string frame = "{\"jsonrpc\":\"2.0\",\"method\":\"\"}\n";
    text += R"({"jsonrpc":"2.0","method":")" + std::string(size - text.size() - frame.size(), 'x') + "\"}\n";
    return text;
  };
  Conversation exact = Conversation::call(fresh_ids(), "greet", "{}");
  const std::string text = filled(exact, limits::kStdoutBytes);
  ASSERT_EQ(text.size(), limits::kStdoutBytes);
  EXPECT_EQ(say(exact, text), Next::kGoOn);
  EXPECT_EQ(say(exact, ""), Next::kGoOn);
  EXPECT_EQ(say(exact, "\n"), Next::kStop);
  EXPECT_EQ(exact.transcript().violation->cause, Cause::kStdoutLimit);
  EXPECT_NE(exact.transcript().violation->message.find("more than 1 MiB"), std::string::npos);

  Conversation over = Conversation::call(fresh_ids(), "greet", "{}");
  EXPECT_EQ(say(over, filled(over, limits::kStdoutBytes + 1)), Next::kStop);
  EXPECT_EQ(over.transcript().violation->cause, Cause::kStdoutLimit);
}

TEST(Conversation, a_flood_without_a_newline_ends_at_the_limit) {  // spec: L4
  Conversation talk = Conversation::call(fresh_ids(), "greet", "{}");
  const std::string block(60'000, 'x');
  size_t writes = 0;
  while (say(talk, block) == Next::kGoOn) ASSERT_LT(++writes, 18U);
  EXPECT_EQ(talk.transcript().violation->cause, Cause::kStdoutLimit);
}

TEST(Conversation, a_line_within_the_limit_is_judged_before_the_byte_too_many) {  // spec: L4, C9
  Conversation talk = Conversation::call(fresh_ids(), "greet", "{}");
  EXPECT_EQ(say(talk, "junk\n" + std::string(2 * limits::kStdoutBytes, 'x')), Next::kStop);
  EXPECT_EQ(talk.transcript().violation->cause, Cause::kNotAMessage);
}

TEST(Upload, asks_discover_then_page_by_page) {  // spec: U2, C3
  Conversation talk = Conversation::upload(fresh_ids());
  EXPECT_NE(talk.input().find("\"server/discover\""), std::string_view::npos);
  EXPECT_EQ(std::count(talk.input().begin(), talk.input().end(), '\n'), 1);
  say(talk, answer(kGoodDiscovery));
  EXPECT_EQ(std::count(talk.input().begin(), talk.input().end(), '\n'), 2);
  EXPECT_NE(talk.input().find(R"("method":"tools/list","params":{"_meta")"), std::string_view::npos);
  say(talk, page("a", R"(,"nextCursor":"")"));
  EXPECT_NE(talk.input().find(R"("params":{"cursor":"","_meta")"), std::string_view::npos);
  say(talk, page("b", R"(,"nextCursor":"two")"));
  EXPECT_NE(talk.input().find(R"("params":{"cursor":"two","_meta")"), std::string_view::npos);
  EXPECT_FALSE(talk.input_closed());
  say(talk, page("c", R"(,"nextCursor":null)"));
  EXPECT_TRUE(talk.input_closed());
  EXPECT_EQ(talk.transcript().asked, 4U);
  EXPECT_EQ(talk.transcript().answered, 4U);
  EXPECT_TRUE(talk.refusals().empty());
  ASSERT_EQ(talk.tools().tools().size(), 3U);
  EXPECT_EQ(talk.tools().tools()[2].name, "c");
}

TEST(Upload, sixteen_pages_are_fine_and_a_seventeenth_is_refused) {  // spec: U2
  for (const bool more : {false, true}) {
    Conversation talk = Conversation::upload(fresh_ids());
    say(talk, answer(kGoodDiscovery));
    for (int i = 1; i <= 16; ++i) {
      ASSERT_FALSE(talk.input_closed());
      say(talk, page("t" + std::to_string(i), i < 16 || more ? R"(,"nextCursor":"same")" : ""));
    }
    EXPECT_TRUE(talk.input_closed());
    EXPECT_EQ(talk.transcript().asked, 17U);
    EXPECT_EQ(talk.transcript().answered, 17U);
    ASSERT_EQ(talk.refusals().size(), more ? 1U : 0U);
    if (more) {
      EXPECT_EQ(talk.refusals()[0].rule, "U2");
      EXPECT_EQ(talk.refusals()[0].where, "page 16");
    }
  }
}

TEST(Upload, a_refused_discovery_asks_nothing_more) {  // spec: U2, U4
  struct Row {
    std::string result;
    std::vector<std::string> found;
  };
  for (const Row& row : std::vector<Row>{
           {R"({"supportedVersions":["2025-11-25"],"capabilities":{"tools":{}}})", {R"(["2025-11-25"])"}},
           {R"({"supportedVersions":"2026-07-28","capabilities":{"tools":{}}})", {R"(is "2026-07-28")"}},
           {R"({"capabilities":{"tools":{}}})", {"is not there"}},
           {R"({"supportedVersions":["2026-07-28"],"capabilities":{}})", {"is not there"}},
           {R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":true}})", {"is true"}},
           {R"({"supportedVersions":["2026-07-28"],"capabilities":[]})", {"is not there"}},
           {R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":null}})", {"is null"}},
           {R"({})", {"is not there", "is not there"}}}) {
    Conversation talk = Conversation::upload(fresh_ids());
    EXPECT_EQ(say(talk, answer(row.result)), Next::kGoOn);
    EXPECT_TRUE(talk.input_closed()) << row.result;
    EXPECT_EQ(talk.transcript().asked, 1U);
    ASSERT_EQ(talk.refusals().size(), row.found.size()) << row.result;
    for (size_t i = 0; i < row.found.size(); ++i) {
      EXPECT_EQ(talk.refusals()[i].rule, "U2");
      EXPECT_EQ(talk.refusals()[i].where, "server/discover");
      EXPECT_NE(talk.refusals()[i].message.find(row.found[i]), std::string::npos)
          << talk.refusals()[i].message;
    }
  }
}

TEST(Upload, other_revisions_and_capabilities_do_no_harm) {  // spec: U2
  Conversation talk = Conversation::upload(fresh_ids());
  say(talk,
      answer(
          R"({"supportedVersions":["2025-11-25","2026-07-28",3],"capabilities":{"tools":{"listChanged":true},"prompts":{}}})"));
  EXPECT_FALSE(talk.input_closed());
  EXPECT_EQ(talk.transcript().asked, 2U);
}

TEST(Upload, broken_tools_are_refusals_of_a_finished_talk) {  // spec: U3, U4
  Conversation talk = Conversation::upload(fresh_ids());
  say(talk, answer(kGoodDiscovery));
  say(talk, page("Bad Name"));
  EXPECT_TRUE(talk.input_closed());
  ASSERT_EQ(talk.refusals().size(), 1U);
  EXPECT_EQ(talk.refusals()[0].rule, "U3");
}

TEST(Upload, an_early_answer_or_an_old_one_is_a_violation) {  // spec: C9
  Conversation talk = Conversation::upload(fresh_ids());
  const std::string discover_id = last_id(talk);
  EXPECT_EQ(
      say(talk, with_id(answer(kGoodDiscovery), discover_id) + with_id(answer(kGoodDiscovery), discover_id)),
      Next::kStop);
  EXPECT_EQ(talk.transcript().violation->cause, Cause::kUnaskedId);
  EXPECT_NE(talk.transcript().violation->message.find("a second time"), std::string::npos);
}

}  // namespace
}  // namespace subako::protocol
