// The writers at the limit of bytes, which what stands around the pixels may pass, too (spec: L8, R4).
#include "picture/write.h"

#include <gtest/gtest.h>

#include <random>

#include "base/limits.h"

namespace subako::picture {
namespace {

TEST(Write, a_webp_that_only_its_profile_makes_too_large_is_not_written) {  // spec: L8, R4
  std::optional<Pixels> noise = Pixels::make(2000, 1306);
  ASSERT_TRUE(noise);
  std::mt19937 random(1);
  for (uint8_t& channel : noise->all()) channel = static_cast<uint8_t>(1 + random() % 255);
  SourceInfo source;
  source.lossless = true;
  const Written bare = write_webp(*noise, source);
  ASSERT_TRUE(bare) << bare.error().reason;
  ASSERT_LE(bare->size(), limits::kPictureBytes);
  ASSERT_GT(bare->size() + 64 * limits::kKiB, limits::kPictureBytes) << "too small for this test";
  source.colour_profile.assign(64 * limits::kKiB, std::byte{1});
  const Written whole = write_webp(*noise, source);
  ASSERT_FALSE(whole) << whole->size();
  EXPECT_TRUE(whole.error().reason.contains("10,485,760")) << whole.error().reason;
}

// Sixels whose length can be chosen: full bands of 24 colours, one of `columns`, and a row of `length`
// characters.
Pixels striped(uint32_t bands, uint32_t columns, uint32_t length) {
  Pixels pixels = *Pixels::make(2000, (bands + 1) * 6 + 1);
  const auto put = [&](uint32_t x, uint32_t y, uint32_t colour) {
    uint8_t* pixel = &pixels.row(y)[size_t{x} * 4];
    pixel[0] = static_cast<uint8_t>(colour * 10);
    pixel[3] = 255;
  };
  for (uint32_t y = 0; y < (bands + 1) * 6; ++y)
    for (uint32_t x = 0; x < (y < bands * 6 ? 2000 : columns); ++x) put(x, y, y % 6 * 4 + x % 4);
  for (uint32_t x = 0; x < length; ++x)
    if (x % 2 == 0 || x + 1 == length) put(x, (bands + 1) * 6, 0);
  return pixels;
}

TEST(Write, a_sixel_picture_is_measured_to_its_last_byte) {  // spec: L8, R4
  const auto size = [](uint32_t bands, uint32_t columns, uint32_t length) {
    const Written written = write_sixel(striped(bands, columns, length));
    return written ? uint64_t{written->size()} : 0;
  };
  // As many columns as go, then as many characters as are missing.
  const uint64_t a_band = size(180, 4, 1) - size(179, 4, 1);
  const auto bands = static_cast<uint32_t>(180 + (limits::kPictureBytes - size(180, 4, 1)) / a_band);
  const uint64_t left = limits::kPictureBytes - size(bands, 4, 1);
  const uint64_t for_rest = 200;
  const auto columns = static_cast<uint32_t>(4 + (left > for_rest ? (left - for_rest) / 24 / 4 * 4 : 0));
  const uint64_t base = size(bands, columns, 1);
  ASSERT_GT(base, 0U);
  const auto length = static_cast<uint32_t>(1 + limits::kPictureBytes - base);
  ASSERT_LT(length, 2000U);
  EXPECT_EQ(size(bands, columns, length), limits::kPictureBytes);
  for (const uint32_t more : {1U, 2U, 3U}) EXPECT_EQ(size(bands, columns, length + more), 0U) << more;
}

}  // namespace
}  // namespace subako::picture
