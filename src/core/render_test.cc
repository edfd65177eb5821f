#include "core/render.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace subako::core {
namespace {

CallRecord answered(std::string result) {
  CallRecord record;
  record.outcome = protocol::Answered{std::move(result)};
  return record;
}

TEST(Render, an_answer_is_its_blocks) {  // spec: R2
  const auto view =
      view_of(answered(R"({"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]})"));
  ASSERT_EQ(view.size(), 2U);
  EXPECT_EQ(view[0].text, "one");
  EXPECT_EQ(view[1].text, "two");
}

TEST(Render, says_whether_the_tool_said_error) {  // spec: R1
  EXPECT_TRUE(is_error(answered(R"({"content":[],"isError":true})")));
  EXPECT_FALSE(is_error(answered(R"({"content":[]})")));
  EXPECT_FALSE(is_error(CallRecord{}));
}

TEST(Render, a_crash_is_told_with_the_end_of_stderr_and_no_more) {  // spec: C9
  CallRecord record;
  protocol::Crash crash;
  crash.message = "the secret cause";
  record.outcome = crash;
  record.stderr_kept = std::string(5000, 'a') + "the end";
  const auto view = view_of(record);
  ASSERT_EQ(view.size(), 1U);
  EXPECT_NE(view[0].text.find("the end"), std::string::npos);
  EXPECT_EQ(view[0].text.find("the secret cause"), std::string::npos);
  EXPECT_EQ(view[0].text.find(std::string(4097, 'a')), std::string::npos);
}

TEST(Render, the_end_of_stderr_is_valid_text_of_4_KiB) {  // spec: C9
  const std::string told = told_stderr(std::string(5000, '\xff'));
  EXPECT_TRUE(utf8::valid(told));
  EXPECT_LE(told.size(), 4096U);
  EXPECT_EQ(told_stderr("plain"), "plain");
}

TEST(Render, a_cancelled_call_is_a_note) {  // spec: C12
  CallRecord record;
  record.outcome = protocol::WasCancelled{};
  EXPECT_EQ(view_of(record).at(0).kind, protocol::ViewBlock::Kind::kNote);
}

}  // namespace
}  // namespace subako::core
