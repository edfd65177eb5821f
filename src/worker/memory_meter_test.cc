#include "worker/memory_meter.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace subako::worker {
namespace {

using Answer = MemoryMeter::Account::Answer;
constexpr uint64_t kMiB = limits::kMiB;

class Meter : public ::testing::Test {
 protected:
  // Beside what the host holds for any guest.
  std::unique_ptr<MemoryMeter::Account> account(uint64_t run, uint64_t granted) {
    return std::make_unique<MemoryMeter::Account>(meter_, run, granted + limits::kGuestHostBytes);
  }
  std::vector<uint64_t> asked_;  // the least of each
  uint64_t returned_ = 0;
  MemoryMeter meter_{[this](uint64_t least, uint64_t bytes) {
                       EXPECT_GE(bytes, least);
                       asked_.push_back(least);
                     },
                     [this](uint64_t bytes) { returned_ += bytes; }};
};

TEST_F(Meter, what_was_granted_needs_no_asking) {
  const auto run = account(1, 10 * kMiB);
  EXPECT_EQ(run->grow(10 * kMiB), Answer::kYes);
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(run->peak(), 10 * kMiB + limits::kGuestHostBytes);
}

TEST_F(Meter, more_is_asked_for_once_and_given_back_in_the_end) {
  auto run = account(1, 10 * kMiB);
  EXPECT_EQ(run->grow(12 * kMiB), Answer::kLater);
  EXPECT_EQ(run->grow(12 * kMiB), Answer::kLater);
  EXPECT_EQ(asked_, std::vector<uint64_t>{2 * kMiB});
  EXPECT_EQ(meter_.allow(6 * kMiB), 1U);
  EXPECT_EQ(run->grow(12 * kMiB), Answer::kYes);
  EXPECT_EQ(run->grow(4 * kMiB), Answer::kYes) << "what is left of the allowance";
  EXPECT_EQ(run->grow(1), Answer::kLater);
  EXPECT_EQ(meter_.allow(0), 1U);
  EXPECT_EQ(run->grow(1), Answer::kNo);
  EXPECT_TRUE(run->refused());
  EXPECT_EQ(run->grow(1), Answer::kLater) << "who asks again may be luckier";
  run.reset();
  EXPECT_EQ(meter_.allow(kMiB), 0U) << "an answer to one that has gone";
  EXPECT_EQ(returned_, 7 * kMiB);
  EXPECT_EQ(meter_.allowance(), 0U);
  EXPECT_EQ(meter_.used(), 0U);
}

TEST_F(Meter, several_are_asked_for_one_by_one) {
  const auto first = account(1, 0);
  auto second = account(2, 0);
  const auto third = account(3, 0);
  EXPECT_EQ(first->grow(kMiB), Answer::kLater);
  EXPECT_EQ(second->grow(2 * kMiB), Answer::kLater);
  EXPECT_EQ(third->grow(3 * kMiB), Answer::kLater);
  EXPECT_EQ(asked_.size(), 1U);
  second.reset();
  EXPECT_EQ(meter_.allow(0), 1U);
  EXPECT_EQ(asked_.size(), 2U);
  EXPECT_EQ(meter_.allow(3 * kMiB), 3U);
  EXPECT_EQ(third->grow(3 * kMiB), Answer::kYes);
  EXPECT_EQ(first->grow(kMiB), Answer::kNo);
}

TEST_F(Meter, whose_grant_another_has_taken_asks_anew) {
  const auto first = account(1, 0);
  const auto second = account(2, 0);
  EXPECT_EQ(first->grow(2 * kMiB), Answer::kLater);
  EXPECT_EQ(meter_.allow(2 * kMiB), 1U);
  EXPECT_EQ(second->grow(kMiB), Answer::kYes);
  EXPECT_EQ(first->grow(2 * kMiB), Answer::kLater);
  EXPECT_EQ(asked_, (std::vector<uint64_t>{2 * kMiB, kMiB}));
  EXPECT_EQ(meter_.allow(kMiB), 1U);
  EXPECT_EQ(first->grow(2 * kMiB), Answer::kYes);
}

TEST_F(Meter, what_the_host_holds_counts_and_is_never_refused) {
  const auto run = account(1, 0);
  run->host_holds(limits::kGuestHostBytes + 3 * kMiB);
  EXPECT_EQ(asked_, std::vector<uint64_t>{3 * kMiB});
  EXPECT_EQ(meter_.allow(0), 0U);
  EXPECT_EQ(meter_.used(), 3 * kMiB);
  EXPECT_EQ(run->grow(kMiB), Answer::kLater) << "the debt comes first";
  EXPECT_EQ(asked_.back(), 4 * kMiB);
}

TEST_F(Meter, debts_of_others_do_not_touch_what_was_granted) {
  const auto debtor = account(1, 0);
  const auto other = account(2, 4 * kMiB);
  debtor->host_holds(limits::kGuestHostBytes + kMiB);
  EXPECT_EQ(other->grow(4 * kMiB), Answer::kYes);
}

}  // namespace
}  // namespace subako::worker
