// Pictures that are cut off, damaged or made to hurt: a note, never a crash, and at no great cost (spec: R2,
// R5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "picture/picture.h"
#include "picture/picture_fixture.h"

namespace subako::picture {
namespace {

using namespace fixture;
using protocol::PictureFormat;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

// Bounds of time are for a release build on a machine that has other things to do; sanitizers and slower ones
// stretch them.
bool within(std::chrono::steady_clock::time_point begin, std::chrono::milliseconds bound) {
  const char* text = std::getenv("SUBAKO_SLOWDOWN");
  const double factor = text != nullptr && *text != '\0' ? std::strtod(text, nullptr) : 1;
  return std::chrono::steady_clock::now() - begin < bound * factor;
}

#ifdef __SANITIZE_ADDRESS__
constexpr size_t kFlipStep = 5;  // the fuzzer does more of this
#else
constexpr size_t kFlipStep = 1;
#endif

struct Named {
  std::string name;
  Bytes bytes;
};

std::vector<Named> small_ones() {
  const Image image = board(48, 32);
  const Image dots = noise(24, 16);
  return {
      {"PNG", png(image)},
      {"PNG, noise", png(dots)},
      {"PNG, interlaced palette", png(image, {PNG_COLOR_TYPE_PALETTE, 8, true, true})},
      {"JPEG", jpeg(image)},
      {"JPEG, progressive", jpeg(dots, {.progressive = true})},
      {"JPEG, CMYK", jpeg(dots, {.cmyk = true})},
      {"GIF", gif({{image}})},
      {"GIF, two frames", gif({{image, 0, 0, true}, {board(20, 20), 3, 3}})},
      {"WebP", webp(dots)},
      {"WebP, lossless, EXIF", webp(dots, {.lossless = true, .chunks = {{"EXIF", exif(6)}}})},
      {"WebP, two frames", animated_webp({image, grey_board(48, 32)})},
  };
}

Bytes joined(Bytes first, std::span<const std::byte> second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// spec: R2
TEST(Damage, ACutPictureIsNotShown) {
  for (const auto& [name, bytes] : small_ones()) {
    ASSERT_TRUE(prepare(bytes, {})) << name;
    ASSERT_TRUE(prepare(joined(bytes, bytes_of("more")), {})) << name << ": what follows is no matter";
    for (size_t size = 0; size < bytes.size(); ++size) {
      // In memory of its own, so that a read past its end is seen.
      const Bytes cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
      const auto prepared = prepare(cut, {});
      ASSERT_FALSE(prepared) << name << ": the first " << size << " of " << bytes.size() << " bytes";
      if (size >= 12) {
        EXPECT_THAT(prepared.error().reason, StartsWith("it is cut off or damaged")) << name << " " << size;
      }
    }
  }
}

// spec: R5
TEST(Damage, AFlippedBitIsANoteOrAPicture) {
  for (const auto& [name, bytes] : small_ones()) {
    size_t noted = 0;
    for (size_t at = 0; at < bytes.size(); at += kFlipStep) {
      Bytes flipped = bytes;
      flipped[at] ^= std::byte{1} << (at * 5 % 8);
      for (const uint32_t side : {2000U, 20U}) {
        const Wish wish{.longest_side = side, .most_pixels = 100'000};
        const auto prepared = prepare(flipped, wish);
        if (!prepared) {
          ++noted;
          EXPECT_LT(prepared.error().reason.size(), 300U);
          continue;
        }
        EXPECT_LE(prepared->width, wish.longest_side);
        EXPECT_LE(prepared->height, wish.longest_side);
      }
    }
    EXPECT_GT(noted, 0U) << name;
  }
}

void patch(Bytes& bytes, size_t at, std::string_view with) {
  const Bytes patched = bytes_of(with);
  std::ranges::copy(patched, bytes.begin() + static_cast<ptrdiff_t>(at));
}

Bytes deflated_zeros(size_t size) {
  const std::vector<Bytef> zeros(size);
  uLongf length = compressBound(static_cast<uLong>(size));
  std::vector<Bytef> out(length);
  compress2(out.data(), &length, zeros.data(), static_cast<uLong>(size), 9);
  const auto bytes = std::as_bytes(std::span(out).first(length));
  return {bytes.begin(), bytes.end()};
}

void expect_note(const Bytes& bytes, const std::string& says, const Wish& wish = {}) {
  const auto begin = std::chrono::steady_clock::now();
  const auto prepared = prepare(bytes, wish);
  EXPECT_TRUE(within(begin, milliseconds(500)));
  ASSERT_FALSE(prepared);
  EXPECT_THAT(prepared.error().reason, HasSubstr(says));
}

// spec: R5, L8
TEST(Damage, ThirtyThousandSquareIsRefusedByItsHeader) {
  const Bytes bomb = raw_png(30'000, 30'000, 8, PNG_COLOR_TYPE_GRAY, deflated_zeros(50'000'000));
  ASSERT_LT(bomb.size(), 60'000U);
  const auto begin = std::chrono::steady_clock::now();
  const auto prepared = prepare(bomb, {});
  EXPECT_TRUE(within(begin, milliseconds(20)));  // microseconds, on a machine that does nothing else
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().reason,
            "its size of 30,000 × 30,000 pixels passes the 100,000,000 pixels that a picture may have");
}

// spec: R5
TEST(Damage, HostileHeaders) {
  const Bytes none;
  expect_note(raw_png(0, 10, 8, PNG_COLOR_TYPE_GRAY, none), "it is cut off or damaged");
  expect_note(raw_png(0x7fffffff, 0x7fffffff, 16, PNG_COLOR_TYPE_RGBA, none), "passes the 65,535");
  expect_note(raw_png(65'536, 1, 8, PNG_COLOR_TYPE_GRAY, none), "passes the 65,535 that a side may have");
  expect_note(raw_png(65'535, 65'535, 8, PNG_COLOR_TYPE_GRAY, none), "passes the 100,000,000 pixels");
  expect_note(raw_png(10'000, 10'000, 16, PNG_COLOR_TYPE_RGBA, deflated_zeros(1000)),
              "it is cut off or damaged");
  expect_note(raw_png(10, 10, 3, PNG_COLOR_TYPE_GRAY, none), "it is cut off or damaged");
  expect_note(raw_png(10, 10, 8, PNG_COLOR_TYPE_PALETTE, deflated_zeros(200)), "it is cut off or damaged");

  const auto frame_header = [](Bytes bytes, uint8_t marker) {
    for (size_t at = 0; at + 9 < bytes.size(); ++at)
      if (bytes[at] == std::byte{0xff} && bytes[at + 1] == std::byte{marker}) return at + 5;  // height, width
    return size_t{0};
  };
  for (const bool progressive : {false, true}) {
    const Bytes good = jpeg(board(40, 40), {.progressive = progressive});
    const size_t sides = frame_header(good, progressive ? 0xc2 : 0xc0);
    ASSERT_NE(sides, 0U);
    Bytes large = good;
    patch(large, sides, "\xff\xdc\xff\xdc");
    expect_note(large, "its size of 65,500 × 65,500 pixels passes the 100,000,000 pixels");
    Bytes flat = good;
    patch(flat, sides, std::string_view("\0\0", 2));
    expect_note(flat, "it is cut off or damaged");
    Bytes cut = good;
    patch(cut, sides, "\x27\x10\x27\x10");  // 10,000 x 10,000
    expect_note(cut, "it is cut off or damaged");
    Bytes channels = good;
    patch(channels, sides + 4, "\x02");
    expect_note(channels, "it is cut off or damaged");
  }

  Bytes canvas = gif({{board(40, 40)}});
  patch(canvas, 6, "\xff\xff\xff\xff");
  expect_note(canvas, "its size of 65,535 × 65,535 pixels passes the 100,000,000 pixels");
  // Screen and global palette of 16 colours, a control block of 8 bytes, a frame.
  Bytes frame = gif({{board(40, 40)}});
  constexpr size_t kFrame = 13 + 16 * 3 + 8;
  ASSERT_EQ(frame[kFrame], std::byte{0x2c});
  patch(frame, kFrame + 1, "\xff\xff\xff\xff");
  expect_note(frame, "its size of 65,575 × 65,575 pixels passes the 65,535");
  patch(frame, kFrame + 1, std::string_view("\0\0\0\0\0\0\0\0", 8));
  expect_note(frame, "its frame is empty");
  Bytes codes = gif({{board(40, 40)}});
  patch(codes, kFrame + 10, "\x0d");
  expect_note(codes, "it is cut off or damaged");
  Bytes colourless = gif({{board(40, 40)}});
  colourless.erase(colourless.begin() + 13, colourless.begin() + 13 + 16 * 3);
  patch(colourless, 10, std::string_view("\0", 1));
  expect_note(colourless, "it has no palette");
  expect_note(joined(Bytes(canvas.begin(), canvas.begin() + 13 + 16 * 3), bytes_of(";")), "it has no frame");

  Bytes lossy = webp(board(40, 40));
  patch(lossy, 26, "\xff\x3f\xff\x3f");
  expect_note(lossy, "its size of 16,383 × 16,383 pixels passes the 100,000,000 pixels");
  Bytes lossless = webp(board(40, 40), {.lossless = true});
  patch(lossless, 21, "\xff\xff\xff\x0f");
  expect_note(lossless, "its size of 16,384 × 16,384 pixels passes the 100,000,000 pixels");
  Bytes moving = animated_webp({board(40, 40), grey_board(40, 40)});
  patch(moving, 24, "\xff\xff\x00");
  expect_note(moving, "passes the 65,535");
}

// spec: R5
TEST(Damage, BombsInChunksThatNobodyReadsAreNotUnpacked) {
  const Bytes zeros = deflated_zeros(20'000'000);
  std::vector<std::pair<std::string, Bytes>> chunks;
  for (int i = 0; i < 20; ++i) {
    chunks.emplace_back("zTXt", joined(bytes_of(std::string_view("a\0\0", 3)), zeros));
    chunks.emplace_back("iTXt", joined(bytes_of(std::string_view("a\0\1\0\0\0", 6)), zeros));
  }
  chunks.emplace_back("iCCP", joined(bytes_of(std::string_view("a\0\0", 3)), zeros));
  const Bytes bomb = png(board(40, 40), {.chunks = chunks});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(prepare(bomb, {}));
  EXPECT_TRUE(within(begin, milliseconds(500)));
}

// spec: R5
TEST(Damage, APngOfMoreDataThanPixelsIsNotReadToTheEndOfThem) {
  const Bytes bomb = raw_png(1, 1, 8, PNG_COLOR_TYPE_GRAY, deflated_zeros(100'000'000));
  const auto begin = std::chrono::steady_clock::now();
  const auto prepared = prepare(bomb, {});
  EXPECT_TRUE(within(begin, milliseconds(500)));
  ASSERT_FALSE(prepared);
  EXPECT_THAT(prepared.error().reason, HasSubstr("its data go on after the picture"));
}

// spec: R5
TEST(Damage, AJpegOfManyScansIsStopped) {
  const Bytes good = jpeg(board(400, 400), {.progressive = true});
  const Bytes scan_marker = bytes_of("\xff\xda");
  const auto last = std::ranges::find_end(good, scan_marker);
  ASSERT_FALSE(last.empty());
  const Bytes head(good.begin(), good.end() - 2);
  const Bytes scan(last.begin(), good.end() - 2);
  Bytes many = head;
  for (int i = 0; i < 80; ++i) many = joined(many, scan);
  EXPECT_TRUE(prepare(joined(many, bytes_of("\xff\xd9")), {}));
  for (int i = 0; i < 20; ++i) many = joined(many, scan);
  expect_note(joined(many, bytes_of("\xff\xd9")), "it has too many scans");
}

// spec: R5
TEST(Damage, AJpegOfManySegmentsCostsWhatItsBytesCost) {
  Bytes bytes = jpeg(board(40, 40));
  Bytes segments;
  while (segments.size() < limits::kPictureBytes)
    segments = joined(std::move(segments), bytes_of(std::string_view("\xff\xe1\0\2", 4)));
  bytes.insert(bytes.begin() + 2, segments.begin(), segments.end());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(prepare(bytes, {}));
  EXPECT_TRUE(within(begin, milliseconds(500)));
}

// spec: R5
TEST(Damage, OfManyFramesOnlyTheFirstIsDecoded) {
  const Bytes one = gif({{draw(2000, 2000, [](uint32_t, uint32_t) { return Rgba{}; })}});
  constexpr size_t kHead = 13 + 2 * 3;  // the screen and its palette
  const Bytes frame(one.begin() + kHead, one.end() - 1);
  Bytes bytes(one.begin(), one.begin() + kHead);
  while (bytes.size() < limits::kPictureBytes) bytes.insert(bytes.end(), frame.begin(), frame.end());
  bytes.push_back(std::byte{0x3b});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(prepare(bytes, {}));
  EXPECT_TRUE(within(begin, milliseconds(500)));
  const Bytes cut(bytes.begin(), bytes.end() - 5);
  expect_note(cut, "it ends too early");
}

#ifndef __SANITIZE_ADDRESS__  // which takes all address space for itself
[[noreturn]] void tell_with_little_memory(const Bytes& bytes) {
  const rlimit little{200 * limits::kMiB, 200 * limits::kMiB};
  setrlimit(RLIMIT_AS, &little);
  const auto prepared = prepare(bytes, {});
  std::fprintf(stderr, "%s", prepared ? "shown" : prepared.error().reason.c_str());
  _exit(0);
}

// spec: R5
TEST(Damage, MemoryThatIsNotThereIsANote) {
  Bytes interlaced_png = raw_png(10'000, 10'000, 8, PNG_COLOR_TYPE_GRAY, deflated_zeros(1000));
  patch(interlaced_png, 28, "\1");
  // The header's sum is over its name and its 13 bytes.
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(&interlaced_png[12]), 17);
  for (size_t i = 0; i < 4; ++i) interlaced_png[29 + i] = static_cast<std::byte>(sum >> (24 - 8 * i));
  Bytes progressive = jpeg(board(40, 40), {.progressive = true});
  const size_t sides = static_cast<size_t>(std::ranges::search(progressive, bytes_of("\xff\xc2")).begin() -
                                           progressive.begin()) +
                       5;
  patch(progressive, sides, "\x27\x10\x27\x10");
  Bytes lossy = webp(board(40, 40));
  patch(lossy, 26, "\x10\x27\x10\x27");
  for (const Bytes& bytes : {interlaced_png, progressive, lossy})
    EXPECT_EXIT(tell_with_little_memory(bytes), testing::ExitedWithCode(0),
                "decoding it takes more memory than a picture may have");
}
#endif

// spec: R5
TEST(Damage, TheMostPixelsCanBeLowered) {
  expect_note(png(board(40, 40)), "passes the 1,599 pixels", {.most_pixels = 1599});
  EXPECT_TRUE(prepare(png(board(40, 40)), {.most_pixels = 1600}));
}

}  // namespace
}  // namespace subako::picture
