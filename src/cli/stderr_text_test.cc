#include "cli/stderr_text.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace subako::cli {
namespace {

TEST(StderrText, raw_stays_raw) {
  StderrText text(false);
  EXPECT_EQ(text.add(0, "\x1b[31m\xff\xe6"), "\x1b[31m\xff\xe6");
  EXPECT_EQ(text.finish(), "");
}

TEST(StderrText, escapes_for_a_terminal_however_it_is_cut) {
  const std::string whole = "日本 \x1b[2J \xf0\x9f\x8d\xb1 \xff\xe6\x97 \xe2\x80\xae end\n";
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    StderrText text(true);
    std::string out = text.add(0, std::string_view(whole).substr(0, cut));
    out += text.add(0, std::string_view(whole).substr(cut));
    out += text.finish();
    EXPECT_EQ(out, utf8::escape_for_people(whole)) << "cut at " << cut;
  }
  StderrText text(true);
  std::string out;
  for (const char byte : whole) out += text.add(0, std::string_view(&byte, 1));
  EXPECT_EQ(out + text.finish(), utf8::escape_for_people(whole)) << "byte by byte";
}

TEST(StderrText, marks_a_gap_on_a_line_of_its_own) {
  StderrText text(false);
  EXPECT_EQ(text.add(0, "begun"), "begun");
  EXPECT_EQ(text.add(12'600, "after"), "\n[… 12.3 KiB of stderr left out: the reader was too slow …]\nafter");
  EXPECT_EQ(text.add(0, "\n"), "\n");
  EXPECT_EQ(text.add(5, ""), "[… 5 B of stderr left out: the reader was too slow …]\n");
}

TEST(StderrText, a_gap_ends_a_character_that_was_cut) {
  StderrText text(true);
  EXPECT_EQ(text.add(0, "a\xe6\x97"), "a");
  EXPECT_EQ(text.add(1, "b\n"), "\\xe6\\x97\n[… 1 B of stderr left out: the reader was too slow …]\nb\n");
}

TEST(StderrText, an_unfinished_line_is_finished_on_a_terminal) {
  StderrText text(true);
  EXPECT_EQ(text.add(0, "no line end"), "no line end");
  EXPECT_EQ(text.finish(), "\n");
  StderrText cut(true);
  EXPECT_EQ(cut.add(0, "x\xf0\x9f"), "x");
  EXPECT_EQ(cut.finish(), "\\xf0\\x9f\n");
}

}  // namespace
}  // namespace subako::cli
