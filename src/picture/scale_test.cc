#include "picture/scale.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

namespace subako::picture {
namespace {

using Pixel = std::array<uint8_t, 4>;

Pixels scaled(Size from, Size to, const std::function<Pixel(uint32_t x, uint32_t y)>& colour) {
  std::optional<Scaler> scaler = Scaler::make(from, to);
  std::vector<uint8_t> row;
  for (uint32_t y = 0; y < from.height; ++y) {
    row.clear();
    for (uint32_t x = 0; x < from.width; ++x)
      for (const uint8_t channel : colour(x, y)) row.push_back(channel);
    scaler->row(row);
  }
  return scaler->take();
}

// spec: R4
TEST(Scale, FitsTheLongerSide) {
  EXPECT_EQ(fitted({1, 1}, 2000), (Size{1, 1}));
  EXPECT_EQ(fitted({2000, 1999}, 2000), (Size{2000, 1999}));
  EXPECT_EQ(fitted({2001, 2001}, 2000), (Size{2000, 2000}));
  EXPECT_EQ(fitted({2001, 1}, 2000), (Size{2000, 1}));
  EXPECT_EQ(fitted({1, 65'535}, 2000), (Size{1, 2000})) << "at least 1";
  EXPECT_EQ(fitted({4000, 3001}, 2000), (Size{2000, 1501})) << "rounded";
  EXPECT_EQ(fitted({4000, 2997}, 2000), (Size{2000, 1499}));
  EXPECT_EQ(fitted({65'535, 1525}, 2000), (Size{2000, 47}));
  EXPECT_EQ(fitted({10, 20}, 0), (Size{1, 1})) << "never nothing";
}

TEST(Scale, KeepsOneColourAsItIs) {
  for (const Pixel colour :
       {Pixel{255, 255, 255, 255}, {0, 0, 0, 255}, {1, 2, 254, 255}, {200, 100, 50, 128}}) {
    const Pixels out = scaled({2001, 77}, {2000, 31}, [&](uint32_t, uint32_t) { return colour; });
    for (uint32_t y = 0; y < 31; ++y)
      for (uint32_t x = 0; x < 2000; ++x)
        for (size_t c = 0; c < 4; ++c)
          ASSERT_EQ(out.row(y)[x * 4 + c], colour[c]) << x << " " << y << " " << c;
  }
}

TEST(Scale, ShiftsNothing) {
  // A slope of one each four pixels, both ways: a pixel's value is its place.
  const Pixels out = scaled({1000, 1000}, {300, 170}, [](uint32_t x, uint32_t y) {
    return Pixel{static_cast<uint8_t>(x / 4), static_cast<uint8_t>(y / 4), 0, 255};
  });
  for (uint32_t y = 3; y < 167; ++y)  // the filter leans a little where the slope ends
    for (uint32_t x = 3; x < 297; ++x) {
      ASSERT_NEAR(out.row(y)[x * 4], ((x + 0.5) * 1000 / 300 - 2) / 4, 0.8) << x;
      ASSERT_NEAR(out.row(y)[x * 4 + 1], ((y + 0.5) * 1000 / 170 - 2) / 4, 0.8) << y;
    }
}

TEST(Scale, CountsEachPixel) {
  // Lines of one pixel, finer than the target can show, are their mean, not a pattern.
  const Pixels out = scaled({4000, 40}, {400, 4}, [](uint32_t x, uint32_t) {
    const auto value = static_cast<uint8_t>(x % 2 * 255);
    return Pixel{value, value, value, 255};
  });
  for (uint32_t x = 0; x < 400; ++x) ASSERT_NEAR(out.row(1)[x * 4], 127.5, 4) << x;
}

TEST(Scale, TakesNoColourFromWhatIsTransparent) {
  const Pixels out = scaled({301, 301}, {100, 100}, [](uint32_t x, uint32_t y) {
    return x * y % 7 < 3 ? Pixel{0, 255, 0, 0} : Pixel{250, 0, 120, 255};
  });
  size_t seen = 0;
  for (uint32_t y = 0; y < 100; ++y)
    for (uint32_t x = 0; x < 100; ++x) {
      const uint8_t* pixel = &out.row(y)[x * 4];
      if (pixel[3] == 0) continue;
      ++seen;
      ASSERT_EQ(pixel[0], 250);
      ASSERT_EQ(pixel[1], 0);
      ASSERT_EQ(pixel[2], 120);
    }
  EXPECT_GT(seen, 5000U);
}

TEST(Scale, GoesThroughOverAndUndershoot) {
  // A hard edge makes the filter swing past black and white.
  const Pixels out = scaled({600, 600}, {250, 250}, [](uint32_t x, uint32_t y) {
    const auto value = static_cast<uint8_t>((x / 100 + y / 100) % 2 * 255);
    return Pixel{value, static_cast<uint8_t>(255 - value), value, 255};
  });
  for (uint32_t y = 0; y < 250; ++y)
    for (uint32_t x = 0; x < 250; ++x) {
      const uint8_t* pixel = &out.row(y)[x * 4];
      ASSERT_NEAR(pixel[0] + pixel[1], 255, 1) << "no wrap: both swing alike";
      ASSERT_EQ(pixel[3], 255);
    }
}

TEST(Scale, OfOneSideAloneLeavesTheOther) {
  const Pixels out = scaled({3, 100}, {3, 50}, [](uint32_t x, uint32_t) {
    return Pixel{static_cast<uint8_t>(x * 100), 0, 0, 255};
  });
  for (uint32_t x = 0; x < 3; ++x) EXPECT_EQ(out.row(20)[x * 4], x * 100);
}

}  // namespace
}  // namespace subako::picture
