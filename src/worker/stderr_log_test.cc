#include "worker/stderr_log.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace subako::worker {
namespace {

void write(StderrLog& log, std::string_view text) { log.write(std::as_bytes(std::span(text))); }

TEST(StderrLog, keeps_the_last_64_kib_in_order) {  // spec: C7
  StderrLog log(false);
  std::string all;
  for (int i = 0; i < 30'000; ++i) {
    const std::string line = std::to_string(i) + "\n";
    write(log, line);
    all += line;
  }
  EXPECT_EQ(log.kept(), all.substr(all.size() - limits::kStderrKeptBytes));
  EXPECT_EQ(log.left_out(), all.size() - limits::kStderrKeptBytes);
  EXPECT_FALSE(log.take_live().has_value());
}

TEST(StderrLog, one_write_may_be_larger_than_all_that_is_kept) {  // spec: C7
  StderrLog log(false);
  write(log, "first");
  write(log, std::string(limits::kStderrKeptBytes, 'a') + "tail");
  EXPECT_EQ(log.kept(), std::string(limits::kStderrKeptBytes - 4, 'a') + "tail");
  EXPECT_EQ(log.left_out(), 9U);
}

TEST(StderrLog, passes_text_on_while_it_is_taken) {
  StderrLog log(true);
  for (int i = 0; i < 100; ++i) {
    write(log, std::string(5000, 'x'));
    const auto piece = log.take_live();
    ASSERT_TRUE(piece.has_value());
    EXPECT_EQ(piece->left_out, 0U);
    EXPECT_EQ(piece->text.size(), 5000U);
    log.taken(5000);
  }
  EXPECT_FALSE(log.take_live().has_value());
}

TEST(StderrLog, a_slow_reader_gets_a_marked_gap) {
  StderrLog log(true);
  write(log, std::string(limits::kStderrInFlightBytes, 'a'));
  EXPECT_EQ(log.take_live()->text.size(), limits::kStderrInFlightBytes);
  write(log, "lost");
  EXPECT_FALSE(log.take_live().has_value());
  log.taken(1000);
  write(log, "lost too");  // the reader isn't far enough ahead
  EXPECT_FALSE(log.take_live().has_value());
  log.taken(limits::kStderrInFlightBytes - 1000);
  write(log, "seen");
  const auto piece = log.take_live();
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->left_out, 12U);
  EXPECT_EQ(piece->text, "seen");
}

TEST(StderrLog, what_is_left_out_last_is_in_what_is_kept) {  // spec: C7
  StderrLog log(true);
  const std::string text = std::string(limits::kStderrInFlightBytes, 'a') + "last words";
  write(log, text);
  const auto piece = log.take_live();
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->left_out, 0U);
  EXPECT_EQ(piece->text, text.substr(0, limits::kStderrInFlightBytes));
  EXPECT_FALSE(log.take_live().has_value()) << "a gap is told only before what comes after it";
  EXPECT_EQ(log.left_out() + log.kept().size(), text.size()) << "so core sees how much didn't come";
  EXPECT_TRUE(log.kept().ends_with("last words"));
}

}  // namespace
}  // namespace subako::worker
