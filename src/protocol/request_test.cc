#include "protocol/request.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"

namespace subako::protocol {
namespace {

const std::string kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":)"
    R"({"name":"subako","version":")" SUBAKO_VERSION R"("},"io.modelcontextprotocol/clientCapabilities":{}})";

TEST(Request, a_call_is_as_the_document_shows_it) {  // spec: C3, C4
  EXPECT_EQ(
      call_request("call-0192f5c4", "greet", R"({"name":"Ada"})"),
      R"({"jsonrpc":"2.0","id":"call-0192f5c4","method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"},)" +
          kMeta + "}}\n");
}

TEST(Request, discover_and_list_hold_meta_and_the_cursor_before_it) {  // spec: C4, U2
  EXPECT_EQ(discover_request("d"),
            R"({"jsonrpc":"2.0","id":"d","method":"server/discover","params":{)" + kMeta + "}}\n");
  EXPECT_EQ(list_request("l", std::nullopt),
            R"({"jsonrpc":"2.0","id":"l","method":"tools/list","params":{)" + kMeta + "}}\n");
  EXPECT_EQ(list_request("l", ""),
            R"({"jsonrpc":"2.0","id":"l","method":"tools/list","params":{"cursor":"",)" + kMeta + "}}\n");
  EXPECT_EQ(
      list_request("l", "2\n\""),
      R"({"jsonrpc":"2.0","id":"l","method":"tools/list","params":{"cursor":"2\n\"",)" + kMeta + "}}\n");
}

TEST(Request, arguments_keep_their_tokens_and_lose_their_space) {  // spec: C10
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "{}"},
      {"{}", "{}"},
      {" {\r\n \"b\" : 9223372036854775808 , \"a\": -0.0,\t\"b\":[1E2, \"\\u00e9 \\/\"] }\n",
       R"({"b":9223372036854775808,"a":-0.0,"b":[1E2,"\u00e9 \/"]})"},
      {R"({"tiny":1e-400,"pair":"\ud83c\udf71"})", R"({"tiny":1e-400,"pair":"\ud83c\udf71"})"},
  };
  for (const auto& [text, sent] : rows) {
    const auto checked = check_arguments(text);
    ASSERT_TRUE(checked.has_value()) << checked.error().message;
    EXPECT_EQ(*checked, sent);
  }
}

TEST(Request, arguments_that_would_break_a_guest_are_refused) {  // spec: C10
  struct Row {
    std::string text;
    Code code;
    std::string_view why;
  };
  const auto deep = [](size_t levels) {
    return R"({"a":)" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_TRUE(check_arguments(deep(120)).has_value());
  for (const Row& row :
       std::vector<Row>{{"[]", Code::kInvalid, "must be a JSON object, but are []"},
                        {"null", Code::kInvalid, "must be a JSON object"},
                        {" ", Code::kInvalid, "ends too early"},
                        {"{\"a\":1", Code::kInvalid, "byte 6"},
                        {"{\"a\":1e400}", Code::kInvalid, "byte 5: a number outside the range of a double"},
                        {R"({"a":"\ud800"})", Code::kInvalid, "byte 6: a lone surrogate escape"},
                        {"{\"a\":\"\xff\"}", Code::kInvalid, "not UTF-8"},
                        {deep(121), Code::kInvalid, "nesting over 120 levels"}}) {
    const auto checked = check_arguments(row.text);
    ASSERT_FALSE(checked.has_value()) << row.text;
    EXPECT_EQ(checked.error().code, row.code);
    EXPECT_NE(checked.error().message.find(row.why), std::string::npos) << checked.error().message;
  }
}

TEST(Request, arguments_hold_one_mebibyte) {  // spec: C10
  const size_t around = std::string(R"({"a":""})").size();
  const auto sized = [&](size_t size) { return R"({"a":")" + std::string(size - around, 'x') + R"("})"; };
  EXPECT_TRUE(check_arguments(sized(limits::kArgumentsBytes)).has_value());
  EXPECT_TRUE(check_arguments("  " + sized(limits::kArgumentsBytes) + "\n").has_value());
  const auto over = check_arguments(sized(limits::kArgumentsBytes + 1));
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().code, Code::kTooLarge);
  EXPECT_NE(over.error().message.find("1,048,577 bytes"), std::string::npos) << over.error().message;
}

}  // namespace
}  // namespace subako::protocol
