#include "worker/held_volumes.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace subako::worker {
namespace {

constexpr Nanoseconds kSoon = std::chrono::nanoseconds(limits::kVolumeTold).count() - 1;

child::Volume volume(uint64_t number) {
  child::Volume message;
  message.set_number(number);
  message.mutable_most()->set_bytes(100);
  message.mutable_most()->set_entries(10);
  return message;
}
child::Volume counted(uint64_t number, uint64_t bytes) {
  child::Volume message = volume(number);
  message.mutable_counts()->set_bytes(bytes);
  return message;
}

TEST(HeldVolumes, runs_of_a_session_share_the_ledger_that_its_first_call_brought) {  // spec: F5
  HeldVolumes volumes;
  EXPECT_EQ(volumes.ledger_of(volume(1)), nullptr);
  const auto first = volumes.ledger_of(counted(1, 7));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->counts(), (volume::Counts{7, 0}));
  EXPECT_EQ(first->most(), (volume::Counts{100, 10}));
  EXPECT_EQ(volumes.ledger_of(volume(1)), first);
  EXPECT_NE(volumes.ledger_of(counted(2, 0)), first);
  volumes.drop(1);
  EXPECT_EQ(volumes.ledger_of(volume(1)), nullptr);
  EXPECT_EQ(first->counts().bytes, 7U) << "a run that has it keeps it";
}

TEST(HeldVolumes, what_has_changed_is_told_at_the_end_and_now_and_then) {  // spec: F5
  HeldVolumes volumes;
  const auto ledger = volumes.ledger_of(counted(1, 7));
  EXPECT_FALSE(volumes.news_of(1, 1'000'000'000, true)) << "nothing has changed";
  ledger->made();
  const auto first = volumes.news_of(1, 1'000'000'000, false);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->volume(), 1U);
  EXPECT_EQ(first->counts().bytes(), 7U);
  EXPECT_EQ(first->counts().entries(), 1U);
  ledger->made();
  EXPECT_FALSE(volumes.news_of(1, 1'000'000'000 + kSoon, false));
  EXPECT_TRUE(volumes.news_of(1, 1'000'000'000 + kSoon, true));
  ledger->made();
  EXPECT_TRUE(volumes.news_of(1, 1'000'000'000 + 2 * kSoon + 1, false));
  EXPECT_FALSE(volumes.news_of(2, 0, true)) << "it isn't here";
  const auto left = volumes.left(1, 0);
  EXPECT_TRUE(left.left());
  EXPECT_EQ(left.counts().entries(), 3U) << "told again";
}

}  // namespace
}  // namespace subako::worker
