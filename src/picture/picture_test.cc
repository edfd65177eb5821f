// Every kind of picture, at sizes around the border: what comes out, and how it looks. Damage is
// damage_test.cc's.
#include "picture/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "picture/picture_fixture.h"

namespace subako::picture {
namespace {

using namespace fixture;
using protocol::PictureFormat;

struct Size {
  uint32_t width;
  uint32_t height;
};

struct Kind {
  std::string name;
  PictureFormat format;
  std::function<Bytes(const Image&)> make;
  int tolerance;  // of a channel, after scaling and a second coding
  bool grey = false;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"PNG", PictureFormat::kPng, [](const Image& i) { return png(i); }, 1},
      {"PNG without alpha", PictureFormat::kPng, [](const Image& i) { return png(i, {PNG_COLOR_TYPE_RGB}); },
       1},
      {"PNG, 16 bits", PictureFormat::kPng, [](const Image& i) { return png(i, {PNG_COLOR_TYPE_RGB, 16}); },
       1},
      {"PNG, palette", PictureFormat::kPng, [](const Image& i) { return png(i, {PNG_COLOR_TYPE_PALETTE}); },
       1},
      {"PNG, interlaced", PictureFormat::kPng,
       [](const Image& i) { return png(i, {PNG_COLOR_TYPE_RGBA, 8, true}); }, 1},
      {"PNG, grey", PictureFormat::kPng, [](const Image& i) { return png(i, {PNG_COLOR_TYPE_GRAY}); }, 1,
       true},
      {"PNG, grey, 16 bits, alpha, interlaced", PictureFormat::kPng,
       [](const Image& i) { return png(i, {PNG_COLOR_TYPE_GRAY_ALPHA, 16, true}); }, 1, true},
      {"JPEG", PictureFormat::kJpeg, [](const Image& i) { return jpeg(i); }, 9},
      {"JPEG, subsampled", PictureFormat::kJpeg, [](const Image& i) { return jpeg(i, {.subsampled = true}); },
       40},
      {"JPEG, progressive", PictureFormat::kJpeg,
       [](const Image& i) { return jpeg(i, {.progressive = true}); }, 9},
      {"JPEG, grey", PictureFormat::kJpeg, [](const Image& i) { return jpeg(i, {.grey = true}); }, 9, true},
      {"JPEG, CMYK", PictureFormat::kJpeg, [](const Image& i) { return jpeg(i, {.cmyk = true}); }, 12},
      {"JPEG, YCCK", PictureFormat::kJpeg, [](const Image& i) { return jpeg(i, {.ycck = true}); }, 12},
      {"GIF", PictureFormat::kGif, [](const Image& i) { return gif({{i}}); }, 3},
      {"GIF, interlaced, local palette", PictureFormat::kGif,
       [](const Image& i) { return gif({{i, 0, 0, true, true}}); }, 3},
      {"WebP", PictureFormat::kWebp, [](const Image& i) { return webp(i); }, 25},
      {"WebP, lossless", PictureFormat::kWebp, [](const Image& i) { return webp(i, {.lossless = true}); }, 1},
  };
  return all;
}

Image read(PictureFormat format, std::span<const std::byte> bytes) {
  switch (format) {
    case PictureFormat::kPng:
      return read_png(bytes);
    case PictureFormat::kJpeg:
      return read_jpeg(bytes);
    case PictureFormat::kGif:
      return read_gif(bytes);
    case PictureFormat::kWebp:
      return read_webp(bytes);
  }
  return {};
}

int difference(Rgba a, Rgba b) {
  return std::max({std::abs(a.r - b.r), std::abs(a.g - b.g), std::abs(a.b - b.b), std::abs(a.a - b.a)});
}

// The middle of each of the board's 4 x 4 fields, as it is in `right`, which may be of another size.
void expect_fields(const Image& image, const Image& right, int tolerance) {
  for (uint32_t row = 0; row < 4; ++row)
    for (uint32_t column = 0; column < 4; ++column) {
      const auto middle = [](const Image& of, uint32_t c, uint32_t r) {
        return of.at((2 * c + 1) * of.width / 8, (2 * r + 1) * of.height / 8);
      };
      const Rgba is = middle(image, column, row);
      const Rgba should = middle(right, column, row);
      EXPECT_LE(difference(is, should), tolerance)
          << "field " << column << ", " << row << ": " << int{is.r} << " " << int{is.g} << " " << int{is.b}
          << " " << int{is.a} << ", not " << int{should.r} << " " << int{should.g} << " " << int{should.b}
          << " " << int{should.a};
    }
}

void check(const Kind& kind, Size size, Size result) {
  SCOPED_TRACE(kind.name + ", " + std::to_string(size.width) + " x " + std::to_string(size.height));
  const Image image = kind.grey ? grey_board(size.width, size.height) : board(size.width, size.height);
  const Bytes source = kind.make(image);
  const auto prepared = prepare(source, {});
  ASSERT_TRUE(prepared) << prepared.error().reason;
  EXPECT_EQ(prepared->format, kind.format);
  EXPECT_EQ(prepared->source_width, size.width);
  EXPECT_EQ(prepared->source_height, size.height);
  EXPECT_EQ(prepared->width, result.width);
  EXPECT_EQ(prepared->height, result.height);
  EXPECT_FALSE(prepared->first_frame);
  const bool small = size.width == result.width && size.height == result.height;
  EXPECT_EQ(prepared->untouched, small);
  EXPECT_EQ(prepared->bytes.empty(), small);
  if (small) return;
  EXPECT_EQ(protocol::picture_format_of(
                {reinterpret_cast<const char*>(prepared->bytes.data()), prepared->bytes.size()}),
            kind.format);
  const Image scaled = read(kind.format, prepared->bytes);
  ASSERT_EQ(scaled.width, result.width);
  ASSERT_EQ(scaled.height, result.height);
  expect_fields(scaled, image, kind.tolerance);
}

// spec: R4
TEST(Picture, IsUntouchedUpTo2000AndScaledToThatBeyond) {
  constexpr std::array<std::pair<Size, Size>, 8> kSizes = {{
      {{1, 1}, {1, 1}},
      {{1999, 40}, {1999, 40}},
      {{2000, 40}, {2000, 40}},
      {{40, 2000}, {40, 2000}},
      {{2001, 40}, {2000, 40}},
      {{2001, 1}, {2000, 1}},
      {{1, 5000}, {1, 2000}},
      {{60, 2400}, {50, 2000}},
  }};
  for (const Kind& kind : kinds())
    for (const auto& [size, result] : kSizes) check(kind, size, result);
}

#ifndef __SANITIZE_ADDRESS__  // without optimisation, making them takes minutes
// spec: R4
TEST(Picture, OfTwelveMegapixelsIsScaled) {
  for (const Kind& kind : kinds())
    if (kind.name == "PNG" || kind.name == "JPEG" || kind.name == "GIF" || kind.name == "WebP")
      check(kind, {4000, 3000}, {2000, 1500});
}
#endif

// spec: R4: what the fixed sides of EXIF say of the first row and the first column.
enum class Side { kTop, kBottom, kLeft, kRight };
constexpr std::array<std::pair<Side, Side>, 8> kFirstRowAndColumn = {{
    {Side::kTop, Side::kLeft},
    {Side::kTop, Side::kRight},
    {Side::kBottom, Side::kRight},
    {Side::kBottom, Side::kLeft},
    {Side::kLeft, Side::kTop},
    {Side::kRight, Side::kTop},
    {Side::kRight, Side::kBottom},
    {Side::kLeft, Side::kBottom},
}};

Image turned_by_hand(const Image& stored, uint16_t orientation) {
  const auto [first_row, first_column] = kFirstRowAndColumn.at(orientation - 1U);
  const bool swapped = first_row == Side::kLeft || first_row == Side::kRight;
  Image turned{swapped ? stored.height : stored.width, swapped ? stored.width : stored.height, {}};
  turned.pixels.resize(stored.pixels.size());
  for (uint32_t y = 0; y < stored.height; ++y)
    for (uint32_t x = 0; x < stored.width; ++x) {
      uint32_t to_x = 0;
      uint32_t to_y = 0;
      for (const auto& [side, distance] : {std::pair{first_row, y}, {first_column, x}}) {
        if (side == Side::kTop) to_y = distance;
        if (side == Side::kBottom) to_y = turned.height - 1 - distance;
        if (side == Side::kLeft) to_x = distance;
        if (side == Side::kRight) to_x = turned.width - 1 - distance;
      }
      turned.pixels[size_t{to_y} * turned.width + to_x] = stored.at(x, y);
    }
  return turned;
}

Bytes with_exif(PictureFormat format, const Image& image, const Bytes& block) {
  Bytes prefixed = bytes_of(std::string_view("Exif\0\0", 6));
  prefixed.insert(prefixed.end(), block.begin(), block.end());
  switch (format) {
    case PictureFormat::kPng:
      return png(image, {.chunks = {{"eXIf", block}}});
    case PictureFormat::kJpeg:
      return jpeg(image, {.markers = {{1, bytes_of("http://ns.adobe.com/xap/1.0/")}, {1, prefixed}}});
    case PictureFormat::kGif:
      return gif({{image}});
    case PictureFormat::kWebp:
      return webp(image, {.lossless = true, .chunks = {{"EXIF", block}}});
  }
  return {};
}

TEST(Picture, IsTurnedAsExifSays) {
  const Image stored = board(240, 60);
  for (const PictureFormat format : {PictureFormat::kPng, PictureFormat::kJpeg, PictureFormat::kWebp})
    for (uint16_t orientation = 1; orientation <= 8; ++orientation) {
      SCOPED_TRACE(std::string(protocol::picture_name(format)) + ", orientation " +
                   std::to_string(orientation));
      const Image upright = turned_by_hand(stored, orientation);
      const auto prepared =
          prepare(with_exif(format, stored, exif(orientation, orientation % 2 == 0)), {.longest_side = 200});
      ASSERT_TRUE(prepared) << prepared.error().reason;
      EXPECT_EQ(prepared->source_width, 240U);
      EXPECT_EQ(prepared->width, orientation < 5 ? 200U : 50U);
      EXPECT_EQ(prepared->height, orientation < 5 ? 50U : 200U);
      const Image shown = read(format, prepared->bytes);
      ASSERT_EQ(shown.width, prepared->width);
      ASSERT_EQ(shown.height, prepared->height);
      expect_fields(shown, upright, 9);
    }
}

// spec: R4
TEST(Picture, IsTurnedByExifAfterItsData) {
  Bytes bytes = png(board(240, 60));
  const Bytes chunk = png_chunk("eXIf", exif(6));
  bytes.insert(bytes.end() - 12, chunk.begin(), chunk.end());  // before the end
  const auto prepared = prepare(bytes, {});
  ASSERT_TRUE(prepared) << prepared.error().reason;
  EXPECT_EQ(prepared->height, 240U);
}

// spec: R4
TEST(Picture, ThatIsSmallKeepsItsExifTurn) {
  const auto prepared = prepare(with_exif(PictureFormat::kJpeg, board(40, 20), exif(6)), {});
  ASSERT_TRUE(prepared);
  EXPECT_TRUE(prepared->untouched);
  EXPECT_EQ(prepared->source_width, 40U);
  EXPECT_EQ(prepared->width, 20U) << "as it is shown";
  EXPECT_EQ(prepared->height, 40U);
}

// spec: R4
TEST(Picture, WithDamagedExifStandsAsItIs) {
  Bytes endless = exif(6);
  endless[8] = endless[9] = std::byte{0xff};  // entries
  endless[11] = std::byte{0x11};              // and another tag in the first one's place
  Bytes elsewhere = exif(6);
  elsewhere[4] = std::byte{0xff};  // the directory's offset
  Bytes text = exif(6);
  text[25] = std::byte{2};  // of another type
  for (const Bytes& block :
       {exif(0), exif(9), exif(0xffff), elsewhere, text, bytes_of("MM"), bytes_of("rubbish"), Bytes{}}) {
    const auto prepared =
        prepare(with_exif(PictureFormat::kPng, board(240, 60), block), {.longest_side = 200});
    ASSERT_TRUE(prepared) << prepared.error().reason;
    EXPECT_EQ(prepared->width, 200U);
  }
  const auto prepared =
      prepare(with_exif(PictureFormat::kPng, board(240, 60), endless), {.longest_side = 200});
  ASSERT_TRUE(prepared) << prepared.error().reason;
  EXPECT_EQ(prepared->height, 200U) << "the entry is there, whatever the count says";
}

// spec: R4
TEST(Picture, ThatMovesGivesItsFirstFrame) {
  const Image first = board(2400, 200);
  const Image other = draw(2400, 200, [](uint32_t, uint32_t) { return Rgba{30, 30, 30, 255}; });
  const std::vector<std::pair<PictureFormat, Bytes>> moving = {
      {PictureFormat::kGif, gif({{first}, {other}, {first}})},
      {PictureFormat::kWebp, animated_webp({first, other})},
      {PictureFormat::kPng,
       png(first, {.chunks = {{"acTL", bytes_of(std::string_view("\0\0\0\2\0\0\0\0", 8))}}})},
  };
  for (const auto& [format, bytes] : moving) {
    SCOPED_TRACE(protocol::picture_name(format));
    const auto prepared = prepare(bytes, {});
    ASSERT_TRUE(prepared) << prepared.error().reason;
    EXPECT_TRUE(prepared->first_frame);
    EXPECT_EQ(prepared->width, 2000U);
    expect_fields(read(format, prepared->bytes), first, 4);
  }
  EXPECT_FALSE(prepare(gif({{first}}), {})->first_frame);
}

// spec: R4
TEST(Picture, ThatMovesAndIsSmallGoesThrough) {
  const Image one = board(40, 40);
  const Image two = grey_board(40, 40);
  for (const Bytes& bytes :
       {gif({{one, 0, 0, false, true}, {two, 0, 0, false, true}}), animated_webp({one, two})}) {
    const auto prepared = prepare(bytes, {});
    ASSERT_TRUE(prepared) << prepared.error().reason;
    EXPECT_TRUE(prepared->untouched);
    EXPECT_FALSE(prepared->first_frame) << "all of them are shown";
  }
}

// spec: R4
TEST(Picture, InAGifLiesWhereItsFrameSays) {
  const GifFrame frame{board(400, 400), 1600, 800, true, true};
  const auto prepared = prepare(gif({frame}, 4000, 2000), {});
  ASSERT_TRUE(prepared) << prepared.error().reason;
  EXPECT_EQ(prepared->source_width, 4000U);
  const Image shown = read_gif(prepared->bytes);
  ASSERT_EQ(shown.width, 2000U);
  EXPECT_EQ(shown.at(0, 0).a, 0);
  EXPECT_EQ(shown.at(795, 500).a, 0);
  EXPECT_EQ(shown.at(1005, 500).a, 0);
  for (uint32_t row = 0; row < 4; ++row)
    for (uint32_t column = 0; column < 4; ++column)
      EXPECT_LE(difference(shown.at(825 + 50 * column, 425 + 50 * row), board_colour(column, row)), 8)
          << "dithered";
  // A canvas that the frame doesn't fit on grows.
  const auto grown = prepare(gif({frame}, 100, 2000), {});
  ASSERT_TRUE(grown) << grown.error().reason;
  EXPECT_EQ(grown->source_width, 2000U);
  EXPECT_EQ(grown->source_height, 2000U);
}

// spec: R4
TEST(Picture, KeepsWhatIsTransparent) {
  // The left half is nothing, in a colour that must not show.
  const Image image = draw(2400, 200, [](uint32_t x, uint32_t) {
    return x < 1200 ? Rgba{255, 0, 255, 0} : Rgba{200, 150, 100, 255};
  });
  const std::vector<std::pair<PictureFormat, Bytes>> pictures = {
      {PictureFormat::kPng, png(image)},
      {PictureFormat::kPng, png(image, {PNG_COLOR_TYPE_RGBA, 16, true})},
      {PictureFormat::kPng, png(image, {PNG_COLOR_TYPE_PALETTE, 8, false, true})},
      {PictureFormat::kPng, png(image, {PNG_COLOR_TYPE_RGB, 8, false, true})},
      {PictureFormat::kPng, png(image, {PNG_COLOR_TYPE_RGB, 16, false, true})},
      {PictureFormat::kGif, gif({{image}})},
      {PictureFormat::kWebp, webp(image)},
      {PictureFormat::kWebp, webp(image, {.lossless = true})},
  };
  for (size_t i = 0; i < pictures.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& [format, bytes] = pictures[i];
    const auto prepared = prepare(bytes, {});
    ASSERT_TRUE(prepared) << prepared.error().reason;
    const Image shown = read(format, prepared->bytes);
    ASSERT_EQ(shown.width, 2000U);
    EXPECT_EQ(shown.at(10, 10).a, 0);
    EXPECT_EQ(shown.at(990, 10).a, 0);
    EXPECT_LE(difference(shown.at(1010, 10), {200, 150, 100, 255}), 6);
    // Nothing dark, nothing purple along the edge.
    for (uint32_t x = 990; x < 1010; ++x)
      if (shown.at(x, 100).a >= 64) {
        EXPECT_NEAR(shown.at(x, 100).r, 200, format == PictureFormat::kWebp ? 30 : 3) << x;
        EXPECT_NEAR(shown.at(x, 100).g, 150, format == PictureFormat::kWebp ? 30 : 3) << x;
      }
  }
}

// spec: R4
TEST(Picture, InFewBitsIsRead) {
  // Fields of black and white; and of grey with 4 levels, 16 levels.
  for (const int depth : {1, 2, 4}) {
    SCOPED_TRACE(depth);
    const int levels = (1 << depth) - 1;
    const Image image = draw(2400, 200, [&](uint32_t x, uint32_t y) {
      const auto grey =
          static_cast<uint8_t>(static_cast<int>((x / 600 + y / 50) % 4) % (levels + 1) * 255 / levels);
      return Rgba{grey, grey, grey, 255};
    });
    for (const int type : {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_PALETTE}) {
      const auto prepared = prepare(png(image, {type, depth, true}), {});
      ASSERT_TRUE(prepared) << prepared.error().reason;
      expect_fields(read_png(prepared->bytes), image, 1);
    }
  }
}

// spec: R4
TEST(Picture, KeepsItsColourProfile) {
  const Image image = board(2400, 200);
  const Bytes profile = bytes_of("a profile that nobody reads here");
  Bytes png_profile = bytes_of(std::string_view("x\0\0", 3));
  png_profile.insert(png_profile.end(), profile.begin(), profile.end());
  Bytes jpeg_profile = bytes_of(std::string_view("ICC_PROFILE\0\1\1", 14));
  jpeg_profile.insert(jpeg_profile.end(), profile.begin(), profile.end());
  const Bytes from_png = png(image, {.chunks = {{"iCCP", png_profile}}});
  for (const Bytes& bytes : {from_png, jpeg(image, {.markers = {{2, jpeg_profile}}}),
                             webp(image, {.lossless = true, .chunks = {{"ICCP", profile}}})}) {
    const auto prepared = prepare(bytes, {});
    ASSERT_TRUE(prepared) << prepared.error().reason;
    EXPECT_FALSE(std::ranges::search(prepared->bytes, profile).empty());
    const auto as_png = prepare(bytes, {.as = As::kPng});
    ASSERT_TRUE(as_png) << as_png.error().reason;
    EXPECT_TRUE(std::ranges::search(as_png->bytes, profile).empty());
  }
}

// spec: R4: terminals that show nothing but PNG.
TEST(Picture, BecomesAPng) {
  const Image image = board(90, 60);
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Image source = kind.grey ? grey_board(90, 60) : image;
    const auto prepared = prepare(kind.make(source), {.as = As::kPng, .longest_side = 60});
    ASSERT_TRUE(prepared) << prepared.error().reason;
    EXPECT_EQ(prepared->format, kind.format);
    EXPECT_FALSE(prepared->untouched);
    const Image shown = read_png(prepared->bytes);
    ASSERT_EQ(shown.width, 60U);
    ASSERT_EQ(shown.height, 40U);
    expect_fields(shown, source, kind.tolerance);
  }
  // One that is small enough is neither scaled nor handed through: what a terminal reads, we wrote.
  const auto small = prepare(with_exif(PictureFormat::kPng, image, exif(8)), {.as = As::kPng});
  ASSERT_TRUE(small);
  EXPECT_FALSE(small->untouched);
  EXPECT_EQ(read_png(small->bytes).pixels, turned_by_hand(image, 8).pixels);
}

// spec: R4: terminals that show nothing but sixels.
TEST(Picture, BecomesSixels) {
  const Image image = board(90, 61);
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Image source = kind.grey ? grey_board(90, 61) : image;
    const auto prepared = prepare(kind.make(source), {.as = As::kSixel});
    ASSERT_TRUE(prepared) << prepared.error().reason;
    const Image shown = read_sixel(prepared->bytes);
    ASSERT_EQ(shown.width, 90U);
    ASSERT_EQ(shown.height, 61U);
    expect_fields(shown, source, std::max(kind.tolerance, 4));
  }
}

// spec: L8
TEST(Picture, ThatIsTooLargeInBytesAfterScalingIsNotShown) {
  const auto prepared = prepare(png(noise(2001, 1765)), {});
  ASSERT_FALSE(prepared);
  EXPECT_THAT(prepared.error().reason, testing::HasSubstr("scaled to 2,000 × 1,764 pixels it has"));
  EXPECT_THAT(prepared.error().reason, testing::HasSubstr("over the 10,485,760"));
}

// spec: R2
TEST(Picture, OfOtherBytesIsNone) {
  for (const std::string_view text :
       {"", "hello", "<svg xmlns='http://www.w3.org/2000/svg'/>", "%PDF-1.7", "BM"}) {
    const auto prepared = prepare(bytes_of(text), {});
    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().reason, "its bytes are no PNG, JPEG, GIF or WebP");
  }
}

}  // namespace
}  // namespace subako::picture
