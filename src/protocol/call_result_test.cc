#include "protocol/call_result.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace subako::protocol {
namespace {

TEST(CallResult, keeps_what_the_guest_spelt) {  // spec: R1
  const auto read = read_call_result(*json::parse(
      R"({"content":[{"type": "text","text":"a"} , 5],"structuredContent":{"n": 1e999},"isError":true,"_meta":{}})"));
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_TRUE(read->is_error);
  EXPECT_EQ(read->structured_content, R"({"n": 1e999})");
  EXPECT_EQ(read->content, (std::vector<std::string>{R"({"type": "text","text":"a"})", "5"}));
}

TEST(CallResult, content_may_be_missing_beside_structured_content) {  // spec: C9
  for (const char* text : {R"({"structuredContent":{"a":1}})", R"({"content":null,"structuredContent":"x"})",
                           R"({"structuredContent":null})", R"({"content":[]})",
                           R"({"content":[],"isError":false})", R"({"content":"x","content":[]})"}) {
    const auto read = read_call_result(*json::parse(text));
    ASSERT_TRUE(read.has_value()) << text << ": " << read.error();
    EXPECT_TRUE(read->content.empty()) << text;
    EXPECT_FALSE(read->is_error);
  }
}

TEST(CallResult, what_is_none_says_why) {  // spec: C9
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"{}", "neither content nor structuredContent"},
      {R"({"content":null})", "neither content nor structuredContent"},
      {R"({"isError":true})", "neither"},
      {R"({"content":{}})", "its content is no array but {}"},
      {R"({"content":"text","structuredContent":1})", "its content is no array but \"text\""},
      {R"({"content":[],"isError":null})", "its isError is no boolean but null"},
      {R"({"content":[],"isError":0})", "its isError is no boolean but 0"},
  };
  for (const auto& [text, why] : rows) {
    const auto read = read_call_result(*json::parse(text));
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_NE(read.error().find(why), std::string::npos) << read.error();
  }
}

}  // namespace
}  // namespace subako::protocol
