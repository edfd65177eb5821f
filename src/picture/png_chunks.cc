#include "picture/png_chunks.h"

#include <cstdint>
#include <string_view>

namespace subako::picture {

namespace {

constexpr size_t kSignatureBytes = 8;
constexpr size_t kHeadBytes = 8;  // of a chunk: length, name
constexpr size_t kCrcBytes = 4;

uint64_t big_endian_32(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<uint64_t>(bytes[i]);
  return value;
}

}  // namespace

PngChunks png_chunks(std::span<const std::byte> png) {
  PngChunks found;
  size_t at = kSignatureBytes;
  while (at <= png.size() && png.size() - at >= kHeadBytes + kCrcBytes) {
    const uint64_t length = big_endian_32(png.subspan(at));
    const std::string_view name(reinterpret_cast<const char*>(&png[at + 4]), 4);
    if (length > png.size() - at - kHeadBytes - kCrcBytes || name == "IEND") break;
    const std::span<const std::byte> data = png.subspan(at + kHeadBytes, length);
    if (name == "IDAT") break;
    if (name == "acTL") found.animated = length >= 4 && big_endian_32(data) > 1;
    if (name == "eXIf") found.exif = data;
    if (name == "iCCP") found.colour_profile = data;
    at += kHeadBytes + length + kCrcBytes;
  }
  return found;
}

}  // namespace subako::picture
