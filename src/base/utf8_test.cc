#include "base/utf8.h"

#include <gtest/gtest.h>

namespace subako::utf8 {
namespace {

TEST(Utf8, finds_the_first_bad_byte) {
  struct Row {
    std::string_view text;
    size_t bad;
  };
  constexpr size_t kNone = std::string_view::npos;
  for (const Row& row : {Row{"", kNone}, Row{"abc", kNone}, Row{"日本語", kNone}, Row{"\xf0\x9f\x8d\xb1", kNone},
                         Row{"a\x80", 1}, Row{"\xc0\xaf", 0}, Row{"\xe0\x80\xaf", 0}, Row{"\xed\xa0\x80", 0},
                         Row{"\xf4\x90\x80\x80", 0}, Row{"ok\xe6\x97", 2}, Row{"\xff", 0}}) {
    EXPECT_EQ(first_bad_byte(row.text), row.bad) << row.text;
  }
}

// Eight bytes are looked at at once where they are ASCII: every place of the first bad one, around that.
TEST(Utf8, finds_the_first_bad_byte_at_any_place) {
  for (size_t size = 1; size <= 24; ++size) {
    for (size_t bad = 0; bad < size; ++bad) {
      std::string text(size, '\x7f');
      text[bad] = '\x80';
      EXPECT_EQ(first_bad_byte(text), bad) << size;
      text[bad] = '\x7f';
      EXPECT_EQ(first_bad_byte(text), std::string_view::npos);
      if (bad + 2 > size) continue;
      text.replace(bad, 2, "\u00e9");
      EXPECT_EQ(first_bad_byte(text), std::string_view::npos) << size << " " << bad;
    }
  }
}

TEST(Utf8, counts_characters_not_bytes) {
  EXPECT_EQ(count(""), 0U);
  EXPECT_EQ(count("日本語"), 3U);
  EXPECT_EQ(count("a\xf0\x9f\x8d\xb1" "b"), 3U);
}

TEST(Utf8, lossy_replaces_each_maximal_invalid_part_once) {
  EXPECT_EQ(lossy("a\xe6\x97" "b"), "a\xef\xbf\xbd" "b");
  EXPECT_EQ(lossy("\xff\xfe"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(lossy("日本"), "日本");
}

TEST(Utf8, tail_begins_at_a_character) {  // spec: C9
  EXPECT_EQ(tail("日本語", 9), "日本語");
  EXPECT_EQ(tail("日本語", 8), "本語");
  EXPECT_EQ(tail("日本語", 7), "本語");
  EXPECT_EQ(tail("日本語", 6), "本語");
  EXPECT_EQ(tail("abc", 2), "bc");
  EXPECT_EQ(tail("\x80\x80\x80\x80\x80", 4), "\x80");
}

TEST(Utf8, people_see_no_terminal_escapes) {
  EXPECT_EQ(escape_for_people("a\x1b[31mred\n\tok"), "a\\x1b[31mred\n\tok");
  EXPECT_EQ(escape_for_people("\xc2\x9b" "31m"), "\\u{9b}31m");
  EXPECT_EQ(escape_for_people("\xe2\x80\xae" "txt"), "\\u{202e}txt");
  EXPECT_EQ(escape_for_people("\xff" "日"), "\\xff日");
  EXPECT_EQ(escape_for_people("\r"), "\\x0d");
}

}  // namespace
}  // namespace subako::utf8
