#include "protocol/schema.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace subako::protocol {
namespace {

// "where message" of every fault, sorted by where they were found.
std::vector<std::string> faults(const std::string& text) {
  std::vector<std::string> found;
  const auto schema = json::parse(text, {.max_depth = 1'000'000});
  if (!schema) return {"isn't JSON: " + text};
  check_schema(*schema, [&](const SchemaFault& fault) {
    const bool warning = fault.kind == SchemaFault::Kind::kRemoteReference;
    found.push_back((warning ? "warning " : "") + fault.where + " " + fault.message);
  });
  return found;
}

TEST(Schema, sound_ones_have_no_fault) {  // spec: U3
  for (
      const char* text :
      {"true", "false", "{}",
       R"({"type":"object","properties":{"type":{"type":"string"},"$ref":{"type":["string","null"]}}})",
       R"({"type":"object","required":["a","b"],"additionalProperties":false,"patternProperties":{"^a(":true}})",
       R"({"enum":[1,null,"x"],"const":{"type":5},"default":{"minimum":"x"},"examples":[{"type":1}]})",
       R"({"anyOf":[{"type":"string"},{"$ref":"#/$defs/x"}],"$defs":{"x":{"minLength":1.0,"maxLength":1e2}}})",
       R"({"minimum":-1.5,"maximum":1e400,"exclusiveMinimum":0,"multipleOf":0.01,"uniqueItems":true,"minItems":0})",
       R"({"items":{"type":"integer"},"prefixItems":[true],"contains":{},"unevaluatedItems":false,"not":{}})",
       R"({"if":{},"then":true,"else":false,"dependentRequired":{"a":["b"]},"dependentSchemas":{"a":{}}})",
       R"({"title":"t","description":"d","format":"anything","deprecated":false,"readOnly":true,"writeOnly":true})",
       R"({"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x","$anchor":"a","$comment":"c","$dynamicRef":"#m"})",
       R"({"$vocabulary":{"u":true},"contentMediaType":"text/html","contentEncoding":"base64","contentSchema":{}})",
       R"({"x-own":5,"nullable":"yes","Type":7,"":[]})", R"({"type":5,"type":"object"})",
       R"({"dependencies":{"a":["b"],"c":{"type":"string"}},"definitions":{"d":{}}})",
       R"({"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"},{}]})",
       R"({"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true})"}) {
    EXPECT_EQ(faults(text), std::vector<std::string>{}) << text;
  }
}

TEST(Schema, a_keyword_with_a_value_of_the_wrong_type_is_found_at_every_depth) {  // spec: U3
  struct Row {
    const char* text;
    std::string fault;
  };
  for (const Row& row : std::vector<Row>{
           {"5", " must be a schema (an object or a boolean), but is 5"},
           {R"({"type":"objct"})",
            "/type must be the name of a JSON type, or an array of some, none of them twice, but is "
            "\"objct\""},
           {R"({"type":[]})", "/type must be the name"},
           {R"({"type":["string","string"]})", "/type must be the name"},
           {R"({"type":["string",5]})", "/type must be the name"},
           {R"({"type":null})", "/type must be the name"},
           {R"({"properties":5})", "/properties must be an object, but is 5"},
           {R"({"properties":{"a":"string"}})", "/properties/a must be a schema"},
           {R"({"properties":{"a":{"minimum":"0"}}})",
            "/properties/a/minimum must be a number, but is \"0\""},
           {R"({"required":"x"})", "/required must be an array of strings"},
           {R"({"required":true})", "/required must be an array of strings"},
           {R"({"required":["a","\u0061"]})", "/required must be an array of strings"},
           {R"({"items":[{}]})", "/items must be a schema"},
           {R"({"anyOf":{}})", "/anyOf must be an array of at least one schema"},
           {R"({"allOf":[ ]})", "/allOf must be an array of at least one schema"},
           {R"({"oneOf":[{},3]})", "/oneOf/1 must be a schema"},
           {R"({"not":{"items":{"pattern":1}}})", "/not/items/pattern must be a string"},
           {R"({"enum":"a"})", "/enum must be an array"},
           {R"({"multipleOf":0.0})", "/multipleOf must be a number over 0"},
           {R"({"multipleOf":-1})", "/multipleOf must be a number over 0"},
           {R"({"exclusiveMinimum":true})", "/exclusiveMinimum must be a number"},
           {R"({"minLength":-1})", "/minLength must be an integer"},
           {R"({"maxItems":1.5})", "/maxItems must be an integer"},
           {R"({"maxItems":-1e400})", "/maxItems must be an integer"},
           {R"({"uniqueItems":"yes"})", "/uniqueItems must be true or false"},
           {R"({"$ref":5})", "/$ref must be a string"},
           {R"({"$defs":{"a":{"$defs":[]}}})", "/$defs/a/$defs must be an object"},
           {R"({"dependentRequired":{"a":"b"}})", "/dependentRequired/a must be an array of strings"},
           {R"({"dependencies":{"a":[5]}})", "/dependencies/a must be an array of strings"},
           {R"({"$vocabulary":{"u":1}})", "/$vocabulary/u must be true or false"},
           {R"({"additionalProperties":"no"})", "/additionalProperties must be a schema"},
           {R"({"description":["a"]})", "/description must be a string"},
           {R"({"$ref":"https://evil.example/s.json"})",
            "warning /$ref leads elsewhere, to \"https://evil.example/s.json\", which is never fetched"},
           {R"({"items":{"$dynamicRef":"other#x"}})", "warning /items/$dynamicRef leads elsewhere"}}) {
    const auto found = faults(row.text);
    ASSERT_EQ(found.size(), 1U) << row.text;
    EXPECT_TRUE(found[0].starts_with(row.fault)) << row.text << " -> " << found[0];
  }
}

TEST(Schema, all_faults_are_found) {  // spec: U3, U4
  EXPECT_EQ(
      faults(R"({"type":"object","properties":{"a":{"type":1},"b":7},"required":"x","$ref":"e"})").size(),
      4U);
}

TEST(Schema, deep_and_wide_ones_cost_little) {  // spec: U3
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += R"({"not":)";
  deep += "5" + std::string(2000, '}');
  std::string wide = R"({"properties":{)";
  for (int i = 0; i < 6000; ++i) wide += "\"" + std::to_string(i) + "\":7,";
  wide += R"("z":true}})";
  const auto begin = std::chrono::steady_clock::now();
  const auto deep_faults = faults(deep);
  ASSERT_EQ(deep_faults.size(), 1U);
  EXPECT_TRUE(deep_faults[0].starts_with("…/not")) << deep_faults[0];
  EXPECT_LT(deep_faults[0].size(), 400U);
  EXPECT_EQ(faults(wide).size(), 6000U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace subako::protocol
