#include "worker/descriptor_share.h"

#include <gtest/gtest.h>

#include "base/few_descriptors_test.h"

namespace subako::worker {
namespace {

TEST(DescriptorShare, a_guest_has_1024_where_there_are_so_many) {  // spec: F6
  EXPECT_EQ(guest_descriptors(2048, 4, 3), 1024U);
  EXPECT_EQ(guest_descriptors(100'000, 64, 63), 1024U);
}

TEST(DescriptorShare, a_small_share_leaves_room_for_the_trees_and_a_task) {
  EXPECT_EQ(guest_descriptors(100, 4, 3), 3U + 4 + 100 - 2 * 3 - 1);
  EXPECT_EQ(guest_descriptors(0, 4, 3), 3U + 4 + 8);
}

TEST(DescriptorShare, a_small_limit_means_fewer_guests_and_not_guests_that_can_open_nothing) {  // spec: F6
  const FewDescriptors few(1024);
  EXPECT_EQ(divide_descriptors(10).guests, 10U);
  EXPECT_EQ(divide_descriptors(10).share, 96U);
  EXPECT_EQ(divide_descriptors(256).guests, 30U);
  EXPECT_EQ(divide_descriptors(256).share, 32U);
  EXPECT_EQ(divide_descriptors(0).guests, 1U);
  for (const uint32_t guests : {1U, 7U, 30U, 256U}) {
    const Division division = divide_descriptors(guests);
    EXPECT_LE(division.guests * division.share, 1024U) << "together they have no more than there are";
    // A sample's trees, each listed, a task, and what it may open.
    EXPECT_LE(guest_descriptors(division.share, 4, 3) - 3 - 4 + 2 * 3 + 1, division.share);
  }
}

}  // namespace
}  // namespace subako::worker
