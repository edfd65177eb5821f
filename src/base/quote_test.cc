#include "base/quote.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace subako {
namespace {

TEST(Quote, head_ends_at_a_character) {
  EXPECT_EQ(head("日本語", 9), "日本語");
  EXPECT_EQ(head("日本語", 8), "日本");
  EXPECT_EQ(head("日本語", 7), "日本");
  EXPECT_EQ(head("日本語", 6), "日本");
  EXPECT_EQ(head("日本語", 2), "");
  EXPECT_EQ(head("abc", 0), "");
}

TEST(Quote, foreign_text_stays_on_one_line_and_harmless) {  // spec: C9
  EXPECT_EQ(one_line("a\nb\tc\r\x1b[31m"), "a\\nb\\tc\\x0d\\x1b[31m");
  EXPECT_EQ(shortened("abcdef", 3), "abc…");
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(in_quotes("hello world", 9), "\"hello wor…\"");
  const std::string quoted = in_quotes(std::string(1'000'000, '\xff'));
  EXPECT_LT(quoted.size(), 1000U);
  EXPECT_TRUE(utf8::valid(quoted));
}

TEST(Quote, numbers_are_grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

}  // namespace
}  // namespace subako
