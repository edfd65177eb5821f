#include "base/proc_text.h"

#include <gtest/gtest.h>

namespace subako {
namespace {

constexpr const char* kText = "MemTotal:       24 kB\nMemTotalHuge: 7\nmodel name\t: A CPU (x)\ninactive_file 52\nflags\t\t:\nempty\n";

TEST(ProcText, a_value_is_what_follows_its_name) {
  EXPECT_EQ(line_value(kText, "MemTotal"), "24 kB");
  EXPECT_EQ(line_value(kText, "MemTotalHuge"), "7");
  EXPECT_EQ(line_value(kText, "model name"), "A CPU (x)");
  EXPECT_EQ(line_value(kText, "inactive_file"), "52");
  EXPECT_EQ(line_value(kText, "flags"), "");
  EXPECT_EQ(line_value(kText, "Total"), std::nullopt) << "it begins no line";
  EXPECT_EQ(line_value(kText, "empty"), std::nullopt);
  EXPECT_EQ(line_value("", "x"), std::nullopt);
}

TEST(ProcText, numbers_are_told_from_words) {
  EXPECT_EQ(line_number(kText, "MemTotal"), 24U);
  EXPECT_EQ(line_number(kText, "model name"), std::nullopt);
  EXPECT_EQ(leading_number("65530\n"), 65530U);
  EXPECT_EQ(leading_number("max\n"), std::nullopt);
  EXPECT_EQ(leading_number(""), std::nullopt);
}

TEST(ProcText, a_file_that_cannot_be_read_is_none) {
  EXPECT_EQ(proc_text("/nowhere/at/all"), std::nullopt);
  EXPECT_EQ(proc_text("/"), std::nullopt) << "a folder";
  EXPECT_TRUE(proc_text("/proc/meminfo"));
}

}  // namespace
}  // namespace subako
