#include "protocol/tool_list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"

namespace subako::protocol {
namespace {

constexpr const char* kSchema = R"("inputSchema":{"type":"object"})";

ToolList listed(const std::vector<std::string>& pages) {
  ToolList list;
  for (const std::string& page : pages) {
    const auto result = json::parse(page);
    EXPECT_TRUE(result.has_value()) << page;
    if (result) (void)list.add_page(*result);
  }
  list.finish();
  return list;
}

std::string page_of(const std::string& tools) {
  return "{\"tools\":[" + tools + "]}";
}
std::string tool(const std::string& name, const std::string& more = kSchema) {
  return "{\"name\":\"" + name + "\"," + more + "}";
}

TEST(ToolList, keeps_a_tool_as_given) {  // spec: U3
  const ToolList list = listed({page_of(
      R"({"_meta":{"x": 1},"name":"a_1-b","title":"T","inputSchema":{ "type":"object", "properties":{"n":{"minimum":-0.0}} },)"
      R"("description":"d\n","outputSchema":{"type":"string"},"annotations":{"readOnlyHint": true},"icons":[ ],"unknown":5})")});
  ASSERT_TRUE(list.refusals().empty()) << list.refusals()[0].message;
  ASSERT_EQ(list.tools().size(), 1U);
  EXPECT_EQ(
      tool_json(list.tools()[0]),
      R"({"name":"a_1-b","title":"T","description":"d\n","inputSchema":{"type":"object","properties":{"n":{"minimum":-0.0}}},)"
      R"("outputSchema":{"type":"string"},"annotations":{"readOnlyHint":true},"icons":[],"_meta":{"x":1}})");
}

TEST(ToolList, a_null_optional_member_is_an_absent_one) {  // spec: U3
  const ToolList list = listed({page_of(tool(
      "a",
      R"("inputSchema":{"type":"object"},"description":null,"outputSchema":null,"title":null,"annotations":null,"icons":null,"_meta":null)"))});
  ASSERT_TRUE(list.refusals().empty()) << list.refusals()[0].message;
  EXPECT_EQ(tool_json(list.tools()[0]), R"({"name":"a","inputSchema":{"type":"object"}})");
}

TEST(ToolList, the_next_cursor_is_any_string) {  // spec: U2
  ToolList list;
  EXPECT_EQ(list.add_page(*json::parse(R"({"tools":[],"nextCursor":""})")), "");
  EXPECT_EQ(list.add_page(*json::parse(R"({"tools":[],"nextCursor":"a\u0062"})")), "ab");
  EXPECT_EQ(list.add_page(*json::parse(R"({"tools":[],"nextCursor":null})")), std::nullopt);
  EXPECT_EQ(list.add_page(*json::parse(R"({"tools":[]})")), std::nullopt);
  EXPECT_TRUE(list.refusals().empty());
  EXPECT_EQ(list.add_page(*json::parse(R"({"tools":[],"nextCursor":5})")), std::nullopt);
  ASSERT_EQ(list.refusals().size(), 1U);
  EXPECT_EQ(list.refusals()[0].rule, "U2");
  EXPECT_EQ(list.refusals()[0].where, "page 5");
}

TEST(ToolList, broken_rules_are_refused_with_place_and_finding) {  // spec: U3, U4
  struct Row {
    std::string tools;
    std::string where;
    std::string found;
  };
  const std::string long_text(1025, 'x');
  for (const Row& row : std::vector<Row>{
           {"5", "tool 1, page 1", "the tool is no object but 5"},
           {"{\"inputSchema\":{\"type\":\"object\"}}", "tool 1, page 1", "no name"},
           {"{\"name\":5,\"inputSchema\":{\"type\":\"object\"}}", "tool 1, page 1",
            "the name is no string but 5"},
           {tool(""), "tool 1, page 1", "is empty"},
           {tool("Greet"), "tool 1, page 1", "the name \"Greet\" has a character that is not allowed, \"G\""},
           {tool("a.b"), "tool 1, page 1", "\".\""},
           {tool("a\\u001b"), "tool 1, page 1", "\"a\\x1b\""},
           {tool(std::string(65, 'a')), "tool 1, page 1", "65 characters long"},
           {tool("a") + "," + tool("a"), "tool \"a\", page 1",
            "another tool is called \"a\" already, on page 1"},
           {tool("a", R"("description":5,"inputSchema":{"type":"object"})"), "tool \"a\", page 1",
            "the description is no string but 5"},
           {tool("a", "\"description\":\"" + long_text + "\"," + kSchema), "tool \"a\", page 1",
            "1,025 characters long and may have at most 1,024"},
           {tool("a", R"("x":1)"), "tool \"a\", page 1", "no inputSchema"},
           {tool("a", R"("inputSchema":null)"), "tool \"a\", page 1",
            "the inputSchema is no object but null"},
           {tool("a", R"("inputSchema":true)"), "tool \"a\", page 1",
            "the inputSchema is no object but true"},
           {tool("a", R"("inputSchema":{})"), "tool \"a\", page 1", "has no \"type\":\"object\""},
           {tool("a", R"("inputSchema":{"type":"array"})"), "tool \"a\", page 1",
            "must be \"object\", but is \"array\""},
           {tool("a", R"("inputSchema":{"type":["object","null"]})"), "tool \"a\", page 1",
            "but is [\"object\",\"null\"]"},
           {tool("a", R"("inputSchema":{"type":"object","properties":{"n":{"type":"text"}}})"),
            "tool \"a\", page 1", "inputSchema at /properties/n/type: must be the name of a JSON type"},
           {tool("a", R"("inputSchema":{"type":"object"},"outputSchema":5)"), "tool \"a\", page 1",
            "outputSchema: must be a schema (an object or a boolean), but is 5"},
           {tool("a", R"("inputSchema":{"type":"object"},"outputSchema":{"items":[{}]})"),
            "tool \"a\", page 1", "outputSchema at /items"}}) {
    const ToolList list = listed({page_of(row.tools)});
    ASSERT_EQ(list.refusals().size(), 1U) << row.tools;
    EXPECT_EQ(list.refusals()[0].rule, "U3");
    EXPECT_EQ(list.refusals()[0].where, row.where);
    EXPECT_NE(list.refusals()[0].message.find(row.found), std::string::npos) << list.refusals()[0].message;
  }
}

TEST(ToolList, bounds_are_inclusive) {  // spec: U3, L13
  std::string description;
  for (int i = 0; i < 1024; ++i) description += "語";
  EXPECT_TRUE(
      listed({page_of(tool(std::string(64, 'a'), "\"description\":\"" + description + "\"," + kSchema))})
          .refusals()
          .empty());
  const std::string frame = R"({"type":"object","x":""})";
  for (const size_t size : {limits::kSchemaBytes, limits::kSchemaBytes + 1}) {
    const std::string schema = R"({"type":"object", "x" : ")" + std::string(size - frame.size(), 'x') + "\"}";
    const ToolList in = listed({page_of(tool("a", "\"inputSchema\":" + schema))});
    const ToolList out = listed({page_of(tool("a", std::string(kSchema) + ",\"outputSchema\":" + schema))});
    for (const ToolList& list : {in, out}) {
      if (size == limits::kSchemaBytes) {
        EXPECT_TRUE(list.refusals().empty()) << list.refusals()[0].message;
      } else {
        ASSERT_EQ(list.refusals().size(), 1U);
        EXPECT_NE(list.refusals()[0].message.find("65,537 bytes of compact JSON and may be at most 65,536"),
                  std::string::npos)
            << list.refusals()[0].message;
      }
    }
  }
}

TEST(ToolList, all_tools_together_are_bounded) {  // spec: U3, L13
  const auto sized = [](size_t total) {
    std::string tools;
    const size_t each = total / 8;
    for (int i = 0; i < 8; ++i) {
      const size_t size = i < 7 ? each : total - 7 * each;
      const std::string frame = tool("t" + std::to_string(i), std::string(kSchema) + R"(,"_meta":"")");
      if (i > 0) tools += " , ";
      tools += tool("t" + std::to_string(i),
                    std::string(kSchema) + R"(, "_meta":")" + std::string(size - frame.size(), 'x') + "\"");
    }
    return listed({page_of(tools)});
  };
  EXPECT_TRUE(sized(limits::kAllToolsBytes).refusals().empty());
  const ToolList over = sized(limits::kAllToolsBytes + 1);
  ASSERT_EQ(over.refusals().size(), 1U);
  EXPECT_NE(over.refusals()[0].message.find("262,145 bytes"), std::string::npos)
      << over.refusals()[0].message;
}

TEST(ToolList, one_to_sixty_four_tools_over_all_pages) {  // spec: U3
  const auto pages_with = [](size_t count) {
    std::vector<std::string> pages;
    for (size_t i = 0; i < count; i += 10) {
      std::string tools;
      for (size_t n = i; n < i + 10 && n < count; ++n)
        tools += (n > i ? "," : "") + tool("t" + std::to_string(n));
      pages.push_back(page_of(tools));
    }
    return pages;
  };
  EXPECT_TRUE(listed(pages_with(1)).refusals().empty());
  EXPECT_TRUE(listed(pages_with(64)).refusals().empty());
  const ToolList many = listed(pages_with(65));
  ASSERT_EQ(many.refusals().size(), 1U);
  EXPECT_NE(many.refusals()[0].message.find("offers 65 tools"), std::string::npos);
  const ToolList none = listed({page_of("")});
  ASSERT_EQ(none.refusals().size(), 1U);
  EXPECT_NE(none.refusals()[0].message.find("offers no tools"), std::string::npos);
}

TEST(ToolList, a_page_without_tools_is_refused) {  // spec: U3
  for (const char* page : {"{}", R"({"tools":null})", R"({"tools":{"a":1}})"}) {
    const ToolList list = listed({page_of(tool("a")), page});
    ASSERT_EQ(list.refusals().size(), 1U) << page;
    EXPECT_EQ(list.refusals()[0].where, "page 2");
  }
}

TEST(ToolList, every_broken_rule_is_found_at_once) {  // spec: U4
  const ToolList list =
      listed({page_of(tool("good") + "," +
                      tool("Bad", R"("description":1,"inputSchema":{"type":"array","required":"x"})")),
              page_of(tool("good") + "," + tool("good") + "," +
                      tool("other", R"("inputSchema":{"type":"object","$ref":"http://x/"})"))});
  EXPECT_EQ(list.refusals().size(), 6U);
  EXPECT_EQ(list.refusals()[4].where, "tool \"good\", page 2");
  EXPECT_NE(list.refusals()[5].message.find("on page 1"), std::string::npos);
  ASSERT_EQ(list.warnings().size(), 1U);
  EXPECT_EQ(list.warnings()[0].where, "tool \"other\", page 2");
  EXPECT_NE(list.warnings()[0].message.find("never fetched"), std::string::npos);
  EXPECT_EQ(list.tools().size(), 2U);
}

TEST(ToolList, reports_are_bounded) {  // spec: U4
  std::string properties;
  for (int i = 0; i < 1000; ++i) properties += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":7";
  const ToolList list =
      listed({page_of(tool("a", R"("inputSchema":{"type":"object","properties":{)" + properties + "}}"))});
  ASSERT_EQ(list.refusals().size(), limits::kReportedRefusals + 1);
  EXPECT_EQ(list.refusals().back().message, "and 900 more");
  std::string countless = "1";
  for (int i = 0; i < 100'000; ++i) countless += ",1";
  const ToolList many = listed({page_of(countless)});
  EXPECT_EQ(many.refusals().size(), 65U);
  EXPECT_NE(many.refusals()[0].message.find("offers 100,001 tools"), std::string::npos);
}

TEST(ToolList, of_duplicate_members_the_last_counts) {  // spec: C6
  const ToolList list = listed(
      {page_of(R"({"name":"BAD","name":"a","inputSchema":5,"inputSchema":{"type":1,"type":"object"}})")});
  EXPECT_TRUE(list.refusals().empty());
  EXPECT_EQ(list.tools()[0].name, "a");
}

}  // namespace
}  // namespace subako::protocol
