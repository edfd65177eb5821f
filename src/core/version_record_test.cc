#include "core/version_record.h"

#include <gtest/gtest.h>

namespace subako::core {
namespace {

using limits::kMiB;

TEST(VersionRecord, expects_the_highest_of_recent_calls) {
  VersionRecord version(1);
  EXPECT_EQ(version.expected_memory(), limits::kUnknownGuestBytes);
  version.took(kMiB);
  EXPECT_EQ(version.expected_memory(), kMiB) << "the first that is known";
  version.took(100 * kMiB);
  EXPECT_EQ(version.expected_memory(), 100 * kMiB);
  version.took(kMiB);
  EXPECT_LT(version.expected_memory(), 90 * kMiB);
  EXPECT_GT(version.expected_memory(), 80 * kMiB);
  for (int i = 0; i < 60; ++i) version.took(kMiB);
  EXPECT_LT(version.expected_memory(), 2 * kMiB);
  version.took(uint64_t{1} << 60U);
  EXPECT_EQ(version.expected_memory(), limits::kFullGuestBytes) << "no more than a guest can have";
  VersionRecord small(2);
  small.took(0);
  EXPECT_EQ(small.expected_memory(), limits::kGuestHostBytes);
}

TEST(VersionRecord, is_set_apart_at_the_second_death_and_forgiven_after_clean_runs) {
  VersionRecord version(1);
  version.died();
  EXPECT_FALSE(version.apart());
  version.died();
  EXPECT_TRUE(version.apart());
  for (uint32_t i = 1; i < limits::kCleanRunsToForgive; ++i) version.ended();
  EXPECT_TRUE(version.apart());
  version.died();
  for (uint32_t i = 1; i < limits::kCleanRunsToForgive; ++i) version.ended();
  EXPECT_TRUE(version.apart()) << "a death begins the count anew";
  version.ended();
  EXPECT_FALSE(version.apart());
  version.died();
  EXPECT_FALSE(version.apart());
}

}  // namespace
}  // namespace subako::core
