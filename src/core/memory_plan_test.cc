#include "core/memory_plan.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace subako::core {
namespace {

using limits::kGiB;
using limits::kKiB;
using limits::kMiB;

TEST(MemoryPlan, leaves_a_guest_at_its_limit_in_any_budget) {  // spec: L2
  for (const uint64_t bytes : {560 * kMiB, 600 * kMiB, 640 * kMiB, 1 * kGiB, 16 * kGiB, 1024 * kGiB}) {
    for (const uint32_t guests : {1U, 16U, 256U, 8000U}) {
      const auto plan =
          plan_memory({.bytes = bytes, .available = {}, .maps = {}, .workers = 1, .guests = guests});
      ASSERT_TRUE(plan) << bytes << plan.error().message;
      EXPECT_GE(plan->guests_bytes, limits::kFullGuestBytes) << bytes << " " << guests;
      EXPECT_LE(plan->guests_bytes + limits::kWorkerBytes + plan->guests * kept_by_slot(plan->kept_bytes),
                bytes);
      EXPECT_LE(plan->guests * kept_by_slot(plan->kept_bytes), bytes / 4);
    }
  }
}

TEST(MemoryPlan, freed_slots_keep_less_where_the_budget_is_tight) {
  const auto kept = [](uint64_t bytes, uint32_t guests) {
    return plan_memory({.bytes = bytes, .available = {}, .maps = {}, .workers = 1, .guests = guests})
        ->kept_bytes;
  };
  EXPECT_EQ(kept(16 * kGiB, 256), limits::kKeptMemoryBytes);
  EXPECT_EQ(kept(1 * kGiB, 256), 256 * kKiB);
  EXPECT_EQ(kept(600 * kMiB, 256), 0U);
  EXPECT_EQ(kept(600 * kMiB, 1), limits::kKeptMemoryBytes);
  EXPECT_EQ(kept(16 * kGiB, 8000), 0U);
}

TEST(MemoryPlan, slots_are_no_more_than_the_memory_maps_of_a_process) {
  const auto guests = [](std::optional<uint64_t> maps, uint32_t asked) {
    return plan_memory({.bytes = 16 * kGiB, .available = {}, .maps = maps, .workers = 1, .guests = asked})
        ->guests;
  };
  EXPECT_EQ(guests(65'530, 256), 256U);
  EXPECT_EQ(guests(65'530, 100'000), 8000U);
  EXPECT_EQ(guests(7024, 8000), 1000U);
  EXPECT_EQ(guests(10, 8000), 1U);
  EXPECT_EQ(guests({}, 8000), 8000U);
  EXPECT_EQ(guests({}, 0), 1U);
}

TEST(MemoryPlan, too_little_is_one_sentence) {
  const auto plan =
      plan_memory({.bytes = 300 * kMiB, .available = {}, .maps = {}, .workers = 2, .guests = 8});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Code::kInvalid);
  EXPECT_EQ(plan.error().message,
            "a memory budget of 300 MiB is too little for 2 workers and one guest at its limit: give the "
            "node at least "
            "592 MiB, or fewer workers");
}

TEST(MemoryPlan, by_default_takes_three_quarters_of_what_is_available_but_at_least_one_guest) {
  EXPECT_EQ(
      plan_memory({.bytes = 0, .available = 8 * kGiB, .maps = {}, .workers = 1, .guests = 1})->guests_bytes,
      6 * kGiB - limits::kWorkerBytes - kept_by_slot(limits::kKeptMemoryBytes));
  for (const std::optional<uint64_t> available :
       {std::optional<uint64_t>(), std::optional<uint64_t>(100 * kMiB)}) {
    const auto plan =
        plan_memory({.bytes = 0, .available = available, .maps = {}, .workers = 1, .guests = 1});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->guests_bytes, limits::kFullGuestBytes);
  }
}

}  // namespace
}  // namespace subako::core
