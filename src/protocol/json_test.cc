#include "protocol/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "protocol/json_text.h"

namespace subako::json {
namespace {

// Eight bytes are looked at at once: every byte at every place, around that.
TEST(Json, finds_the_end_of_plain_text_at_any_place) {
  const auto is_plain = [](int c) { return c >= 0x20 && c != '"' && c != '\\'; };
  for (size_t size = 1; size <= 24; ++size) {
    for (size_t place = 0; place < size; ++place) {
      for (int c = 0; c < 256; ++c) {
        std::string text(size, 'a');
        text[place] = static_cast<char>(c);
        ASSERT_EQ(after_plain(text, 0), is_plain(c) ? size : place) << c << " at " << place << " of " << size;
        ASSERT_EQ(after_plain(text, place), is_plain(c) ? size : place);
        ASSERT_EQ(after_plain(text, place + 1), size);
      }
    }
  }
}

TEST(Json, finds_the_end_of_a_string_with_escapes_at_any_place) {
  for (size_t size = 0; size <= 20; ++size) {
    for (size_t place = 0; place <= size; ++place) {
      for (const std::string escape : {"\\\"", "\\\\", "\\n"}) {
        std::string inner(size, 'a');
        inner.insert(place, escape);
        const std::string text = "\"" + inner + "\",\"x\"";
        ASSERT_EQ(after_string(text, 0), inner.size() + 2) << text;
        ASSERT_TRUE(parse("[" + text + "]").has_value()) << text;
      }
    }
  }
}

std::string nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(Json, accepts_what_rfc_8259_has) {  // spec: C6
  for (const std::string& text : std::vector<std::string>{"null",
                                                          "true",
                                                          "false",
                                                          "0",
                                                          "-0",
                                                          "-0.0",
                                                          "1e400",
                                                          "1E+2",
                                                          "0.5e-7",
                                                          "18446744073709551616",
                                                          "\"\"",
                                                          "\"日本語\"",
                                                          R"("\"\\\/\b\f\n\r\t\u00e9\ud83c\udf71")",
                                                          R"("\ud800")",
                                                          "[]",
                                                          "{}",
                                                          "[ ]",
                                                          "{ }",
                                                          " \t\r\n1\r\n",
                                                          "[1,2]",
                                                          R"({"a":1,"a":2})",
                                                          R"({"":[{}]})",
                                                          "\"\x7f\"",
                                                          "[[],{},\"\",0]",
                                                          nested(120)}) {
    EXPECT_TRUE(parse(text).has_value()) << text;
  }
}

TEST(Json, says_where_and_why_a_text_is_refused) {  // spec: C6
  struct Row {
    std::string text;
    size_t offset;
    std::string_view what;
  };
  const std::string kEarly = "the text ends too early";
  for (const Row& row : std::vector<Row>{{"", 0, "ends too early"},
                                         {"  ", 2, "ends too early"},
                                         {"hello", 0, "expected a value"},
                                         {"nul", 0, "expected a value"},
                                         {"NaN", 0, "expected a value"},
                                         {"-Infinity", 1, "expected a digit"},
                                         {"+1", 0, "expected a value"},
                                         {"01", 0, "leading zero"},
                                         {"-01", 1, "leading zero"},
                                         {".5", 0, "expected a value"},
                                         {"1.", 2, "ends too early"},
                                         {"1.e3", 2, "expected a digit after '.'"},
                                         {"1e", 2, "ends too early"},
                                         {"1ex", 2, "in the exponent"},
                                         {"-", 1, "ends too early"},
                                         {"0x10", 1, "more text"},
                                         {"1 2", 2, "more text"},
                                         {"[1,]", 3, "expected a value"},
                                         {"[1,,2]", 3, "expected a value"},
                                         {"[,1]", 1, "expected a value"},
                                         {"[1 2]", 3, "expected ',' or ']'"},
                                         {"[1}", 2, "expected ',' or ']'"},
                                         {"[1", 2, "ends too early"},
                                         {"{\"a\":1]", 6, "expected ',' or '}'"},
                                         {"{a:1}", 1, "member name"},
                                         {"{\"a\" 1}", 5, "expected ':'"},
                                         {"{\"a\":}", 5, "expected a value"},
                                         {"{\"a\":1,}", 7, "member name"},
                                         {"{\"a\"", 4, "ends too early"},
                                         {"]", 0, "expected a value"},
                                         {"'a'", 0, "expected a value"},
                                         {"\"a", 2, "ends too early"},
                                         {"\"a\\", 3, "ends too early"},
                                         {"\"a\nb\"", 2, "control character"},
                                         {std::string("\"\0\"", 3), 1, "control character"},
                                         {std::string("\0", 1), 0, "expected a value"},
                                         {R"("\x41")", 1, "an escape"},
                                         {R"("\u12G4")", 1, "incomplete"},
                                         {R"("\u12)", 5, "ends too early"},
                                         {"// c\n1", 0, "expected a value"},
                                         {"1\f", 1, "more text"},
                                         {"\xef\xbb\xbf{}", 0, "byte order mark"},
                                         {"\"a\xff\"", 2, "not UTF-8"},
                                         {"\"\xed\xa0\x80\"", 1, "not UTF-8"},
                                         {"\"\xc0\xaf\"", 1, "not UTF-8"},
                                         {"{x\xff", 1, "member name"},
                                         {"\xc2\xa0"
                                          "1",
                                          0, "expected a value"},
                                         {nested(121), 120, "nesting over 120 levels"}}) {
    const auto parsed = parse(row.text);
    ASSERT_FALSE(parsed.has_value()) << row.text;
    EXPECT_EQ(parsed.error().offset, row.offset) << row.text << ": " << parsed.error().what;
    EXPECT_NE(parsed.error().what.find(row.what), std::string::npos)
        << row.text << ": " << parsed.error().what;
  }
}

TEST(Json, nesting_without_end_costs_nothing) {  // spec: C6
  const std::string deep(1 << 20, '[');
  const auto parsed = parse(deep);
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().offset, 120U);
  EXPECT_TRUE(parse(nested(100'000), {.max_depth = 100'000}).has_value());
}

TEST(Json, the_stricter_rules_refuse_lone_surrogates_and_numbers_out_of_range) {  // spec: C10
  const Rules strict{.refuse_lone_surrogates = true, .refuse_numbers_outside_double = true};
  for (const char* text :
       {R"("\ud83c\udf71")", "1e-400", "-1e-400", "1.7976931348623157e308", "0e99999", "-0.0",
        "123456789012345678901234567890", "5e-324", "0.1e309", "9223372036854775808"}) {
    EXPECT_TRUE(parse(text, strict).has_value()) << text;
  }
  const std::string long_but_small = "0." + std::string(400, '0') + "1e401";
  EXPECT_TRUE(parse(long_but_small, strict).has_value());
  for (const std::string& text : std::vector<std::string>{
           R"("\ud83c")", R"("\udf71")", R"("\udf71\ud83c")", R"("\ud83c\ud83c\udf71")", R"("\ud83cx")",
           R"("\ud83c\n")", R"({"\ud800":1})", "1e400", "-1e400", "1e99999999999999999999999", "[1.8e308]",
           std::string(310, '9'), "1" + std::string(400, '0')}) {
    EXPECT_FALSE(parse(text, strict).has_value()) << text;
    EXPECT_TRUE(parse(text).has_value()) << text;
  }
  EXPECT_EQ(parse(R"(["a\ud83cb"])", strict).error().offset, 3U);
}

TEST(Json, a_value_is_its_text_without_the_space_around) {
  const auto parsed = parse(" [ 1 , {\"a\": -0.0 } ]\r\n");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->kind(), Kind::kArray);
  EXPECT_EQ(parsed->raw(), "[ 1 , {\"a\": -0.0 } ]");
  std::vector<std::string> elements;
  for_each_element(*parsed, [&](const Value& element) {
    elements.emplace_back(element.raw());
    return true;
  });
  EXPECT_EQ(elements, (std::vector<std::string>{"1", "{\"a\": -0.0 }"}));
}

TEST(Json, kinds_are_told_apart) {
  const std::vector<std::pair<const char*, Kind>> rows = {{"null", Kind::kNull}, {"true", Kind::kBool},
                                                          {"-1", Kind::kNumber}, {"\"\"", Kind::kString},
                                                          {"[]", Kind::kArray},  {"{}", Kind::kObject}};
  for (const auto& [text, kind] : rows) EXPECT_EQ(parse(text)->kind(), kind) << text;
}

TEST(Json, members_come_in_order_with_decoded_names_and_duplicates) {
  const auto parsed = parse(R"({ "a\u0062" : "}]" , "c":{"d":[1,"\"]"]} , "ab":null})");
  ASSERT_TRUE(parsed.has_value());
  std::string seen;
  for_each_member(*parsed, [&](const std::string& name, const Value& value) {
    seen += name + "=" + std::string(value.raw()) + ";";
    return true;
  });
  EXPECT_EQ(seen, R"(ab="}]";c={"d":[1,"\"]"]};ab=null;)");
  size_t visits = 0;
  for_each_member(*parsed, [&](const std::string&, const Value&) { return ++visits < 2; });
  EXPECT_EQ(visits, 2U);
}

TEST(Json, find_takes_the_last_duplicate) {  // spec: C6
  const auto parsed = parse(R"({"a":1,"\u0061":2,"n":null,"b":[]})");
  EXPECT_EQ(find(*parsed, "a")->raw(), "2");
  EXPECT_TRUE(find(*parsed, "n").has_value());
  EXPECT_FALSE(find_non_null(*parsed, "n").has_value());
  EXPECT_FALSE(find(*parsed, "c").has_value());
  EXPECT_FALSE(find(*parse("[1]"), "a").has_value());
  EXPECT_FALSE(find(*parse("\"a\""), "a").has_value());
}

TEST(Json, strings_decode) {  // spec: C6
  const std::vector<std::pair<const char*, std::string>> rows = {
      {R"("")", ""},
      {R"("日\"\\\/\b\f\n\r\t")", "日\"\\/\b\f\n\r\t"},
      {R"("\u0041\u00e9\u65e5\ud83c\udf71")", "Aé日🍱"},
      {R"("\uD83C\uDF71")", "🍱"},
      {R"("\u0000x")", std::string("\0x", 2)},
      {R"("a\ud800")", "a\xef\xbf\xbd"},
      {R"("\udc00b")",
       "\xef\xbf\xbd"
       "b"},
      {R"("\ud800\ud83c\udf71")", "\xef\xbf\xbd🍱"},
      {R"("\udc00\udc00")", "\xef\xbf\xbd\xef\xbf\xbd"},
      {R"("\ud800\u0041")",
       "\xef\xbf\xbd"
       "A"},
      {R"("\ud800\\u0041")", "\xef\xbf\xbd\\u0041"},
  };
  for (const auto& [text, meant] : rows) EXPECT_EQ(decode_string(*parse(text)), meant) << text;
}

TEST(Json, numbers_and_booleans_decode) {
  EXPECT_EQ(decode_number(*parse("1")), 1.0);
  EXPECT_EQ(decode_number(*parse("1.0e0")), 1.0);
  EXPECT_EQ(decode_number(*parse("-2.5E-1")), -0.25);
  EXPECT_EQ(decode_number(*parse("1e400")), std::nullopt);
  EXPECT_EQ(decode_number(*parse("-1e400")), std::nullopt);
  EXPECT_EQ(decode_number(*parse("1e-400")), 0.0);
  EXPECT_TRUE(std::signbit(*decode_number(*parse("-1e-400"))));
  EXPECT_EQ(decode_number(*parse("\"1\"")), std::nullopt);
  EXPECT_TRUE(decode_bool(*parse("true")));
  EXPECT_FALSE(decode_bool(*parse("false")));
}

TEST(Json, compact_takes_only_the_space_between_tokens) {  // spec: C10
  const auto parsed = parse("{ \"a b\\n\" :\t[ 1e2 , -0.0,\r\n\" x \\\" \" , true ] , \"z\":{ } }");
  ASSERT_TRUE(parsed.has_value());
  const std::string text = compact(*parsed);
  EXPECT_EQ(text, "{\"a b\\n\":[1e2,-0.0,\" x \\\" \",true],\"z\":{}}");
  EXPECT_EQ(compact_size(*parsed), text.size());
}

TEST(Json, quoting_round_trips) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  all += "日本語🍱\xe2\x80\xa8";
  const std::string text = json::quoted(all);
  const auto parsed = parse(text);
  ASSERT_TRUE(parsed.has_value()) << text;
  EXPECT_EQ(decode_string(*parsed), all);
  EXPECT_EQ(json::quoted("a\"\\\n\x01"), R"("a\"\\\n\u0001")");
}

}  // namespace
}  // namespace subako::json
