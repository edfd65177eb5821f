#include "picture/picture.h"

#include <gtest/gtest.h>

#include "picture/picture_fixture.h"

namespace subako::picture {
namespace {

using namespace fixture;
using protocol::PictureFormat;

Image gradient(uint32_t width, uint32_t height) {
  return draw(width, height, [&](uint32_t x, uint32_t y) {
    return Rgba{static_cast<uint8_t>(x * 255 / std::max(width - 1, 1U)),
                static_cast<uint8_t>(y * 255 / std::max(height - 1, 1U)), 128, 255};
  });
}

// spec: R4
TEST(Picture, GoesThroughUntouchedUpTo2000) {
  for (const auto& [width, height] : {std::pair{1U, 1U}, {1999U, 20U}, {20U, 2000U}}) {
    const auto prepared = prepare(png(gradient(width, height)), {});
    ASSERT_TRUE(prepared) << prepared.error().reason;
    EXPECT_TRUE(prepared->untouched);
    EXPECT_TRUE(prepared->bytes.empty());
    EXPECT_EQ(prepared->width, width);
    EXPECT_EQ(prepared->height, height);
  }
}

// spec: R4
TEST(Picture, IsScaledTo2000) {
  const auto prepared = prepare(png(gradient(4000, 300)), {});
  ASSERT_TRUE(prepared) << prepared.error().reason;
  EXPECT_FALSE(prepared->untouched);
  EXPECT_EQ(prepared->width, 2000U);
  EXPECT_EQ(prepared->height, 150U);
  const Image scaled = read_png(prepared->bytes);
  ASSERT_EQ(scaled.width, 2000U);
  ASSERT_EQ(scaled.height, 150U);
  const Image right = gradient(2000, 150);
  for (uint32_t y = 0; y < 150; ++y)
    for (uint32_t x = 0; x < 2000; ++x) {
      EXPECT_NEAR(scaled.at(x, y).r, right.at(x, y).r, 2);
      EXPECT_NEAR(scaled.at(x, y).g, right.at(x, y).g, 2);
      EXPECT_EQ(scaled.at(x, y).b, 128);
      EXPECT_EQ(scaled.at(x, y).a, 255);
    }
}

// spec: R2, R5
TEST(Picture, OfOtherBytesIsNone) {
  const auto prepared = prepare(bytes_of("hello", 5), {});
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().reason, "it is no PNG, JPEG, GIF or WebP");
}

}  // namespace
}  // namespace subako::picture
