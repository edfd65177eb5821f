#include "cli/human.h"

#include <gtest/gtest.h>

#include "cli/exit_status.h"

namespace subako::cli {
namespace {

TEST(Timeout, reads_units_and_bounds) {  // spec: L1
  for (const auto& [text, ms] : std::vector<std::pair<std::string, int64_t>>{{"500ms", 500},
                                                                             {"1ms", 1},
                                                                             {"5s", 5000},
                                                                             {"60", 60'000},
                                                                             {"1.5s", 1500},
                                                                             {"300s", 300'000},
                                                                             {"0.001", 1}}) {
    const auto read = parse_timeout(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->count(), ms) << text;
  }
  for (const char* text : {"", "s", "0", "0ms", "0.5ms", "301s", "300001ms", "-5s", "5 s", "5m", "5sec",
                           "1e3", "nan", "inf", "99999999999999999999", "0x10", "\x1b[2J"}) {
    const auto read = parse_timeout(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::kInvalid) << text;
    EXPECT_EQ(read.error().message.find('\x1b'), std::string::npos);
  }
}

TEST(Human, bytes_and_durations) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(12'600), "12.3 KiB");
  EXPECT_EQ(human_bytes(64UL << 20U), "64.0 MiB");
  EXPECT_EQ(human_ms(0.314), "0.31 ms");
  EXPECT_EQ(human_ms(12.3), "12 ms");
  EXPECT_EQ(human_ms(2900), "2.9 s");
}

TEST(Human, columns_are_those_of_a_terminal) {
  EXPECT_EQ(columns("abc"), 3U);
  EXPECT_EQ(columns("日本"), 4U);
  EXPECT_EQ(columns("e\xcc\x81"), 1U);
}

TEST(Human, cuts_at_columns_not_bytes) {
  EXPECT_EQ(cut("short", 10), "short");
  EXPECT_EQ(cut("a longer text", 8), "a longe…");
  EXPECT_EQ(cut("日本語です", 6), "日本…");
  EXPECT_EQ(cut("two\nlines", 20), "two lines");
  EXPECT_EQ(cut("x", 0), "");
}

TEST(Table, lays_out_columns_and_cuts_the_last) {
  EXPECT_EQ(table({{"A", "B", "C"}, {"long cell", "x", "text"}, {"日本", "", "more"}}, 100),
            "A          B  C\n"
            "long cell  x  text\n"
            "日本          more\n");
  EXPECT_EQ(table({{"A", std::string(50, 'x')}}, 30), "A  " + std::string(26, 'x') + "…\n");
  EXPECT_EQ(table({{"A", std::string(50, 'x')}}, 2), "A  " + std::string(19, 'x') + "…\n")
      << "never less than 20";
}

TEST(Nearest, suggests_only_what_is_near) {
  const std::vector<std::string_view> words{"check", "call", "tools", "pack", "doctor", "completion"};
  EXPECT_EQ(nearest("chek", words), "check");
  EXPECT_EQ(nearest("cal", words), "call");
  EXPECT_EQ(nearest("tool", words), "tools");
  EXPECT_EQ(nearest("comp", words), "completion");
  EXPECT_EQ(nearest("frobnicate", words), "");
}

TEST(ExitStatus, tells_their_fault_from_ours) {
  EXPECT_EQ(exit_status(Code::kInvalid), Exit::kRefused);
  EXPECT_EQ(exit_status(Code::kNotFound), Exit::kRefused);
  EXPECT_EQ(exit_status(Code::kInternal), Exit::kFault);
  EXPECT_EQ(exit_status(Code::kUnsupported), Exit::kFault);
  EXPECT_EQ(exit_status(Code::kCancelled), Exit::kCancelled);
}

}  // namespace
}  // namespace subako::cli
