#include "picture/jpeg_segments.h"

#include <cstdint>
#include <string_view>

namespace subako::picture {

namespace {

using namespace std::string_view_literals;

constexpr uint8_t kApp1 = 0xe1;
constexpr uint8_t kApp2 = 0xe2;
constexpr uint8_t kImageData = 0xda;
constexpr std::string_view kExif = "Exif\0\0"sv;
constexpr std::string_view kWholeProfile = "ICC_PROFILE\0\1\1"sv;  // the first of one

}  // namespace

JpegSegments jpeg_segments(std::span<const std::byte> jpeg) {
  JpegSegments found;
  const auto byte = [&](size_t at) { return std::to_integer<uint8_t>(jpeg[at]); };
  size_t at = 2;  // after the start of the image
  while (at + 4 <= jpeg.size() && byte(at) == 0xff) {
    const uint8_t marker = byte(at + 1);
    if (marker == 0xff) {  // fills
      ++at;
      continue;
    }
    const size_t length = size_t{byte(at + 2)} << 8 | byte(at + 3);  // its own two bytes included
    if (marker == kImageData || length < 2 || length > jpeg.size() - at - 2) break;
    const std::span<const std::byte> data = jpeg.subspan(at + 4, length - 2);
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    if (marker == kApp1 && found.exif.empty() && text.starts_with(kExif)) found.exif = data;
    if (marker == kApp2 && text.starts_with(kWholeProfile)) found.colour_profile = data;
    at += 2 + length;
  }
  return found;
}

}  // namespace subako::picture
