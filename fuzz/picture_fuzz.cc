// Any bytes as a picture (spec: R5). It must never crash, stay in its bounds, and what it makes must be a picture again, of the format
// and the size that it says. The last byte of the input chooses the wish: what follows a picture's end means nothing to any
// format.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/utf8.h"
#include "picture/picture.h"
#include "require.h"

using namespace subako;
using fuzz::require;
using picture::As;
using picture::Wish;
using protocol::PictureFormat;

namespace {

Wish wish_of(uint8_t choice) {
  constexpr std::array<uint32_t, 4> kSides = {2000, 64, 1, 17};
  // A million pixels reach every line that a hundred million do.
  return {static_cast<As>(choice % 3), kSides[choice / 3 % 4], uint64_t{choice == 255 ? 8U : 1U} << 20};
}

void check_note(const std::string& reason) {
  require(!reason.empty() && reason.size() < 400, "a reason is a clause");
  require(utf8::valid(reason) && utf8::escape_for_people(reason) == reason, "a reason is fit for people");
  require(reason.find('\n') == std::string::npos, "a reason is one line");
}

void check_made(const picture::Prepared& made, const Wish& wish) {
  require(made.width >= 1 && made.height >= 1, "it has a size");
  require(std::max(made.width, made.height) <= std::max(wish.longest_side, 1U), "it fits");
  require(made.bytes.size() <= limits::kPictureBytes, "it is small enough");
  require(made.untouched == made.bytes.empty(), "there are bytes, or it is untouched");
  require(!made.untouched || (wish.as == As::kSame && !made.first_frame), "only the same is untouched");
  if (made.untouched) return;
  const std::string_view text(reinterpret_cast<const char*>(made.bytes.data()), made.bytes.size());
  if (wish.as == As::kSixel) {
    require(text.starts_with("\x1bP0;1;0q\"1;1;") && text.ends_with("\x1b\\"), "sixels are in their frame");
    require(std::ranges::all_of(text.substr(1, text.size() - 3), [](char c) { return c >= 0x20 && c < 0x7f; }),
            "sixels are printable");
    return;
  }
  const auto again = picture::prepare(made.bytes, {As::kSame, 65'535, limits::kPicturePixels});
  require(again.has_value(), "what was made decodes");
  require(again->format == (wish.as == As::kPng ? PictureFormat::kPng : made.format), "its format is the one asked for");
  require(again->width == made.width && again->height == made.height, "its size is the one told");
}

// A PNG of which the sums are right: else libpng reads none of what was changed.
void mend_sums(std::span<uint8_t> png) {
  for (size_t at = 8; png.size() >= at + 12;) {
    const size_t length = size_t{png[at]} << 24 | size_t{png[at + 1]} << 16 | size_t{png[at + 2]} << 8 | png[at + 3];
    if (length > png.size() - at - 12) return;
    const uLong sum = crc32_z(0, &png[at + 4], length + 4);
    for (size_t i = 0; i < 4; ++i) png[at + 8 + length + i] = static_cast<uint8_t>(sum >> (24 - 8 * i));
    at += 12 + length;
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 8 != 0 && size > 8 && data[1] == 'P') mend_sums({data, size});
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Wish wish = wish_of(size != 0 ? data[size - 1] : 0);
  const auto prepared = picture::prepare(std::as_bytes(std::span(data, size)), wish);
  if (prepared)
    check_made(*prepared, wish);
  else
    check_note(prepared.error().reason);
  return 0;
}
