#include "volume/write_budget.h"

#include <gtest/gtest.h>

namespace subako::volume {
namespace {

TEST(WriteBudget, counts_the_larger_of_bytes_and_growth) {  // spec: F4
  struct Row {
    const char* what;
    uint64_t offset, size, written, cost;
  };
  for (const Row& row :
       {Row{"append", 10, 10, 5, 5}, Row{"in place", 0, 10, 5, 5}, Row{"across the end", 8, 10, 5, 5},
        Row{"past the end", 60, 10, 5, 55}, Row{"nothing past the end", 60, 10, 0, 0}}) {
    WriteBudget budget(100);
    budget.charge_write(row.offset, row.size, row.written);
    EXPECT_EQ(budget.written(), row.cost) << row.what;
    EXPECT_EQ(budget.left(), 100 - row.cost) << row.what;
  }
}

TEST(WriteBudget, is_short_at_the_border_and_then_empty) {  // spec: F4
  WriteBudget budget(100);
  EXPECT_EQ(budget.allowed(0, 0, 80), 80U);
  budget.charge_write(0, 0, 80);
  EXPECT_EQ(budget.allowed(0, 80, 80), 20U);
  budget.charge_write(0, 80, 20);
  EXPECT_EQ(budget.allowed(0, 80, 1), 0U);
  EXPECT_EQ(budget.written(), 100U);
}

TEST(WriteBudget, a_hole_is_paid_before_the_first_byte) {  // spec: F4
  const WriteBudget budget(100);
  EXPECT_EQ(budget.allowed(99, 0, 10), 1U);
  EXPECT_EQ(budget.allowed(100, 0, 10), 0U);
  EXPECT_EQ(budget.allowed(~uint64_t{0}, 0, 10), 0U);
}

TEST(WriteBudget, growing_a_file_counts_and_shrinking_does_not) {  // spec: F4
  WriteBudget budget(100);
  EXPECT_TRUE(budget.allows_size(0, 100));
  EXPECT_FALSE(budget.allows_size(0, 101));
  EXPECT_FALSE(budget.allows_size(0, ~uint64_t{0}));
  budget.charge_size(50, 110);
  budget.charge_size(110, 0);
  EXPECT_EQ(budget.written(), 60U);
  EXPECT_TRUE(budget.allows_size(1000, 0));
  EXPECT_FALSE(budget.allows_size(0, 41));
}

}  // namespace
}  // namespace subako::volume
