#include "base/random.h"

#include <gtest/gtest.h>

#include <set>

namespace subako {

namespace {

// spec: C4. Past what the stock holds, too.
TEST(Ids, AreFreshEachTime) {
  Ids ids;
  Ids others;
  std::set<std::string> seen;
  for (int i = 0; i < 500; ++i) {
    seen.insert(ids.next("call"));
    seen.insert(others.next("call"));
  }
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(Ids, HaveTheirPrefixAndThirtyTwoDigits) {
  Ids ids;
  for (int i = 0; i < 100; ++i) {
    const std::string id = ids.next("tools-list");
    ASSERT_EQ(id.size(), 11U + 32U);
    EXPECT_TRUE(id.starts_with("tools-list-"));
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef", 11), std::string::npos);
    EXPECT_NE(id.substr(11), std::string(32, '0'));
  }
}

TEST(FillRandom, FillsAll) {
  std::array<std::byte, 4096> bytes{};
  fill_random(bytes);
  std::set<std::byte> seen(bytes.begin(), bytes.end());
  EXPECT_GT(seen.size(), 250U);
}

}  // namespace

}  // namespace subako
