#include "picture/quantise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace subako::picture {
namespace {

using Pixel = std::array<uint8_t, 4>;

Pixels drawn(uint32_t width, uint32_t height, const std::function<Pixel(uint32_t x, uint32_t y)>& colour) {
  Pixels pixels = *Pixels::make(width, height);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) std::ranges::copy(colour(x, y), pixels.row(y).begin() + x * 4L);
  return pixels;
}

Colour shown(const Quantised& picture, uint32_t x, uint32_t y) {
  return picture.colours.at(picture.indices.row(y)[x]);
}

// spec: R4
TEST(Quantise, KeepsFewColoursExactly) {
  const auto colour = [](uint32_t x, uint32_t y) {
    return Pixel{static_cast<uint8_t>(x * 16), static_cast<uint8_t>(y * 16), 7, 255};
  };
  const Quantised picture = *quantise(drawn(16, 16, colour));
  EXPECT_EQ(picture.colours.size(), 256U);
  EXPECT_FALSE(picture.transparent);
  for (uint32_t y = 0; y < 16; ++y)
    for (uint32_t x = 0; x < 16; ++x) {
      const Pixel right = colour(x, y);
      EXPECT_EQ(shown(picture, x, y), (Colour{right[0], right[1], right[2]}));
    }
}

TEST(Quantise, LeavesRoomForWhatIsTransparent) {
  const Quantised picture = *quantise(drawn(16, 16, [](uint32_t x, uint32_t y) {
    return Pixel{static_cast<uint8_t>(x * 16), static_cast<uint8_t>(y * 16), 7,
                 static_cast<uint8_t>(x == 0 && y == 0 ? 127 : 128)};
  }));
  EXPECT_TRUE(picture.transparent);
  EXPECT_EQ(picture.colours.size(), 255U);
  EXPECT_EQ(picture.indices.row(0)[0], Quantised::kTransparent);
  EXPECT_EQ(shown(picture, 1, 0), (Colour{16, 0, 7}));
  const Quantised nothing = *quantise(drawn(3, 3, [](uint32_t, uint32_t) { return Pixel{}; }));
  EXPECT_EQ(nothing.colours.size(), 1U);
  EXPECT_EQ(nothing.indices.row(2)[2], Quantised::kTransparent);
}

TEST(Quantise, MeansWhatManyColoursMean) {
  const auto colour = [](uint32_t x, uint32_t y) {
    return Pixel{static_cast<uint8_t>(x), static_cast<uint8_t>(y), static_cast<uint8_t>((x + y) / 2), 255};
  };
  const Quantised picture = *quantise(drawn(256, 256, colour));
  EXPECT_EQ(picture.colours.size(), 256U);
  // Dithered: a pixel may be off, eight by eight together are not.
  for (uint32_t top = 0; top < 256; top += 8)
    for (uint32_t left = 0; left < 256; left += 8)
      for (size_t c = 0; c < 3; ++c) {
        double is = 0;
        double should = 0;
        for (uint32_t y = top; y < top + 8; ++y)
          for (uint32_t x = left; x < left + 8; ++x) {
            is += shown(picture, x, y)[c];
            should += colour(x, y)[c];
            ASSERT_NEAR(shown(picture, x, y)[c], colour(x, y)[c], 60);
          }
        ASSERT_NEAR(is / 64, should / 64, 8) << left << " " << top << " " << c;
      }
}

}  // namespace
}  // namespace subako::picture
