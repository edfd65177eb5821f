#include "protocol/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

#include "protocol/json.h"

namespace subako::json {
namespace {

void fill(Writer& out) {
  out.begin_object();
  out.key("empty").begin_object().end_object();
  out.key("list").begin_array().string("a\n").int64(-1).uint64(18446744073709551615U).number(0.1).end_array();
  out.key("none").begin_array().end_array();
  out.key("raw").raw("{\"x\": 1}").key("yes").boolean(true).key("no").boolean(false).key("null").null();
  out.end_object();
}

TEST(JsonWriter, writes_compact_text) {
  Writer out;
  fill(out);
  EXPECT_EQ(
      out.text(),
      R"({"empty":{},"list":["a\n",-1,18446744073709551615,0.1],"none":[],"raw":{"x": 1},"yes":true,"no":false,"null":null})");
}

TEST(JsonWriter, writes_indented_text_for_people) {
  Writer out(Writer::Style::kIndented);
  fill(out);
  EXPECT_EQ(out.text(), R"({
  "empty": {},
  "list": [
    "a\n",
    -1,
    18446744073709551615,
    0.1
  ],
  "none": [],
  "raw": {"x": 1},
  "yes": true,
  "no": false,
  "null": null
})");
}

TEST(JsonWriter, numbers_are_the_shortest_that_read_back) {
  for (const double value :
       {0.0, -0.0, 1.0, 0.1, 1.0 / 3, 1e21, 5e-324, 1.7976931348623157e308, 123456789.125}) {
    Writer out;
    out.number(value);
    ASSERT_EQ(decode_number(*parse(out.text())), value) << out.text();
    EXPECT_LE(out.text().size(), 24U);
  }
  Writer out;
  out.begin_array()
      .number(std::numeric_limits<double>::infinity())
      .number(std::numeric_limits<double>::quiet_NaN())
      .end_array();
  EXPECT_EQ(out.text(), "[null,null]");
}

TEST(JsonWriter, invalid_utf8_is_replaced) {
  Writer out;
  out.string("a\xff");
  EXPECT_EQ(out.text(), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace subako::json
