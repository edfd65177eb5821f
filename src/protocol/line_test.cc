#include "protocol/line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace subako::protocol {
namespace {

// The kind of a line and what there is to say about it, as one text.
std::string told(const std::string& text) {
  const Line line = read_line(text);
  struct Teller {
    std::string operator()(const Notification& n) const { return "notification " + n.method; }
    std::string operator()(const Answer& a) const {
      return "answer " + std::string(a.id.raw()) + " " + std::string(a.result.raw());
    }
    std::string operator()(const ErrorAnswer& e) const {
      return "error " + std::string(e.id.raw()) + " [" + e.code + "] " + e.message;
    }
    std::string operator()(const GuestRequest& r) const { return "request " + r.method; }
    std::string operator()(const NotAMessage& n) const { return "none: " + n.why; }
  };
  return std::visit(Teller{}, line);
}

TEST(Line, messages_are_told_apart) {  // spec: C6
  struct Row {
    std::string text;
    std::string told;
  };
  for (const Row& row : std::vector<Row>{
           {R"({"jsonrpc":"2.0","id":"a","result":{"x": 1}})", R"(answer "a" {"x": 1})"},
           {R"({"result":{},"id":7,"jsonrpc":"2\u002e0","extra":[1]})", "answer 7 {}"},
           {R"({"jsonrpc":"2.0","id":null,"result":{}})", "answer null {}"},
           {"\t{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}\r", "answer \"a\" {}"},
           {R"({"jsonrpc":"1.0","jsonrpc":"2.0","id":1,"id":"a","result":5,"result":{}})", "answer \"a\" {}"},
           {R"({"jsonrpc":"2.0","id":"\ud800","result":{}})", R"(answer "\ud800" {})"},
           {R"({"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"no \"name\""}})",
            R"(error "a" [-32602] no "name")"},
           {R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}})",
            "error null [-32700] parse"},
           {R"({"jsonrpc":"2.0","id":"a","error":"broken"})", R"(error "a" [] )"},
           {R"({"jsonrpc":"2.0","id":"a","error":null})", R"(error "a" [] )"},
           {R"({"jsonrpc":"2.0","id":"a","error":{"code":"E1","message":5}})", R"(error "a" ["E1"] )"},
           {R"({"jsonrpc":"2.0","id":"a","result":null,"error":{"code":1}})", R"(error "a" [1] )"},
           {R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})",
            "notification notifications/message"},
           {R"({"jsonrpc":"2.0","method":""})", "notification "},
           {R"({"jsonrpc":"2.0","method":"x","result":{}})", "notification x"},
           {R"({"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"})",
            "request sampling/createMessage"},
           {R"({"jsonrpc":"2.0","id":null,"method":"x"})", "request x"},
           {R"({"jsonrpc":"2.0","id":"a","method":"x","result":{}})", "request x"},
           {R"({"jsonrpc":"2.0","id":"a","method":null,"result":{}})", "answer \"a\" {}"},
           {R"({"jsonrpc":"2.0","id":"a","method":5,"error":{}})", R"(error "a" [] )"}}) {
    EXPECT_EQ(told(row.text), row.told) << row.text;
  }
}

TEST(Line, what_is_no_message_says_why) {  // spec: C6
  struct Row {
    std::string text;
    std::string_view why;
  };
  const std::string deep =
      R"({"jsonrpc":"2.0","id":"a","result":{"x":)" + std::string(119, '[') + std::string(119, ']') + "}}";
  for (const Row& row : std::vector<Row>{
           {"", "the line is blank"},
           {"\r", "the line is blank"},
           {" \t ", "the line is blank"},
           {"hello world", "it isn't JSON (byte 0: expected a value)"},
           {"{\"jsonrpc\":\"2.0\"", "it isn't JSON (byte 16: the text ends too early)"},
           {"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}", "byte order mark"},
           {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"result\":{}}", "not UTF-8"},
           {R"([{"jsonrpc":"2.0","id":"a","result":{}}])", "batches"},
           {"\"text\"", "it is a string, not an object"},
           {"42", "it is a number, not an object"},
           {"null", "it is null, not an object"},
           {"{}", "no \"jsonrpc\""},
           {R"({"id":"a","result":{}})", "no \"jsonrpc\""},
           {R"({"jsonrpc":"1.0","id":"a","result":{}})", "not \"2.0\" but \"1.0\""},
           {R"({"jsonrpc":2.0,"id":"a","result":{}})", "not \"2.0\" but 2.0"},
           {R"({"jsonrpc":"2.0","jsonrpc":"1.0","id":"a","result":{}})", "not \"2.0\""},
           {R"({"jsonrpc":"2.0","result":{}})", "nor an \"id\""},
           {R"({"jsonrpc":"2.0","error":{}})", "nor an \"id\""},
           {R"({"jsonrpc":"2.0","method":5})", "nor an \"id\""},
           {R"({"jsonrpc":"2.0","id":"a"})", "nor an \"error\""},
           {R"({"jsonrpc":"2.0","id":"a","method":5})", "nor an \"error\""},
           {R"({"jsonrpc":"2.0","id":"a","result":{},"error":{"code":1}})", "both"},
           {R"({"jsonrpc":"2.0","id":"a","result":{},"error":null})", "both"},
           {R"({"jsonrpc":"2.0","id":"a","result":null})", "\"result\" is no object but null"},
           {R"({"jsonrpc":"2.0","id":"a","result":[]})", "\"result\" is no object but an array"},
           {R"({"jsonrpc":"2.0","id":"a","result":{},"result":"x"})", "\"result\" is no object but a string"},
           {R"({"jsonrpc":"2.0","id":"a","result":{}} {})", "more text"},
           {deep, "nesting over 120 levels"}}) {
    const std::string found = told(row.text);
    EXPECT_TRUE(found.starts_with("none: ")) << row.text << " -> " << found;
    EXPECT_NE(found.find(row.why), std::string::npos) << row.text << " -> " << found;
  }
}

TEST(Line, exactly_120_levels_are_fine) {  // spec: C6
  const std::string text =
      R"({"jsonrpc":"2.0","id":"a","result":{"x":)" + std::string(118, '[') + std::string(118, ']') + "}}";
  EXPECT_TRUE(std::holds_alternative<Answer>(read_line(text)));
}

TEST(Line, an_id_is_ours_only_as_the_same_string) {  // spec: C4, C6
  EXPECT_TRUE(id_is(*json::parse("\"call-1\""), "call-1"));
  EXPECT_TRUE(id_is(*json::parse(R"("call\u002d1")"), "call-1"));
  for (const char* other : {"\"call-2\"", "\"\"", "1", "null", "[\"call-1\"]", "{\"call-1\":1}"}) {
    EXPECT_FALSE(id_is(*json::parse(other), "call-1")) << other;
  }
  EXPECT_FALSE(id_is(*json::parse("1"), "1"));
}

}  // namespace
}  // namespace subako::protocol
