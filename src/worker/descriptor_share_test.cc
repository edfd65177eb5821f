#include "worker/descriptor_share.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

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

TEST(DescriptorShare, is_the_processs_own_limit_divided) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{1064, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_EQ(descriptor_share(10), 100U);
  EXPECT_EQ(descriptor_share(1), 1000U);
  EXPECT_EQ(descriptor_share(0), 1000U);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace subako::worker
