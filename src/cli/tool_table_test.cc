#include "cli/tool_table.h"

#include <gtest/gtest.h>

namespace subako::cli {
namespace {

protocol::Tool tool(std::string schema) {
  protocol::Tool out;
  out.name = "greet";
  out.description = "Says hello";
  out.input_schema = std::move(schema);
  return out;
}

TEST(ToolTable, reads_inputs_of_a_schema) {
  const auto inputs = inputs_of(tool(R"({"type":"object","required":["name",7],"properties":{
      "name":{"type":"string","description":"Who"},"n":{"type":["integer","null"]},"e":{"enum":[1]},"any":{},"bool":true}})"));
  ASSERT_EQ(inputs.size(), 5U);
  EXPECT_EQ(inputs[0].name, "name");
  EXPECT_EQ(inputs[0].type, "string");
  EXPECT_TRUE(inputs[0].required);
  EXPECT_EQ(inputs[0].description, "Who");
  EXPECT_EQ(inputs[1].type, "integer|null");
  EXPECT_FALSE(inputs[1].required);
  EXPECT_EQ(inputs[2].type, "enum");
  EXPECT_EQ(inputs[3].type, "any");
  EXPECT_EQ(inputs[4].type, "any");
}

TEST(ToolTable, odd_schemas_have_no_inputs) {
  for (const char* schema :
       {R"({"type":"object"})", R"({"properties":[]})", R"({"properties":7})", "no json"}) {
    EXPECT_TRUE(inputs_of(tool(schema)).empty()) << schema;
  }
}

TEST(ToolTable, nothing_of_a_guest_can_move_the_cursor) {
  protocol::Tool odd = tool(R"({"properties":{"a\u001b[2J":{"type":"s\u0007","description":"d\r"}}})");
  odd.description = "\x1b]0;title\x07";
  const std::string text = tool_table({odd}, 100);
  for (const char c : {'\x1b', '\x07', '\r'}) EXPECT_EQ(text.find(c), std::string::npos);
}

TEST(ToolTable, shows_tools_and_inputs) {
  EXPECT_EQ(
      tool_table(
          {tool(R"({"required":["name"],"properties":{"name":{"type":"string","description":"Who"}}})")}, 80),
      "TOOL   INPUT  TYPE    REQUIRED  DESCRIPTION\n"
      "greet                           Says hello\n"
      "       name   string  yes       Who\n");
}

}  // namespace
}  // namespace subako::cli
