#include "picture/png_chunks.h"

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace subako::picture {

namespace {

constexpr size_t kSignatureBytes = 8;
constexpr size_t kLengthBytes = 4;
constexpr size_t kNameBytes = 4;
constexpr size_t kHeadBytes = kLengthBytes + kNameBytes;
constexpr size_t kCrcBytes = 4;

uint64_t big_endian_32(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<uint64_t>(bytes[i]);
  return value;
}

struct Chunk {
  std::string_view name;
  std::span<const std::byte> data;
  std::span<const std::byte> summed;  // name and data
  uint64_t sum = 0;
};

class Walk {
 public:
  explicit Walk(std::span<const std::byte> png) : png_(png), at_(kSignatureBytes) {}

  // None: the file ends before the next chunk does.
  [[nodiscard]] std::optional<Chunk> next() {
    if (at_ > png_.size() || png_.size() - at_ < kHeadBytes + kCrcBytes) return std::nullopt;
    const uint64_t length = big_endian_32(png_.subspan(at_));
    if (length > png_.size() - at_ - kHeadBytes - kCrcBytes) return std::nullopt;
    const std::span<const std::byte> summed = png_.subspan(at_ + kLengthBytes, kNameBytes + length);
    const std::string_view name(reinterpret_cast<const char*>(summed.data()), kNameBytes);
    at_ += kHeadBytes + length + kCrcBytes;
    return Chunk{name, summed.subspan(kNameBytes), summed, big_endian_32(png_.subspan(at_ - kCrcBytes))};
  }

 private:
  std::span<const std::byte> png_;
  size_t at_;
};

}  // namespace

PngChunks png_chunks(std::span<const std::byte> png) {
  PngChunks found;
  bool before_data = true;
  Walk walk(png);
  while (const std::optional<Chunk> chunk = walk.next()) {
    if (chunk->name == "IEND") break;
    if (chunk->name == "IDAT") before_data = false;
    if (chunk->name == "eXIf") found.exif = chunk->data;
    if (before_data && chunk->name == "acTL")
      found.animated = chunk->data.size() >= 4 && big_endian_32(chunk->data) > 1;
    if (before_data && chunk->name == "iCCP") found.colour_profile = chunk->data;
  }
  return found;
}

const char* png_damage(std::span<const std::byte> png) {
  Walk walk(png);
  while (const std::optional<Chunk> chunk = walk.next()) {
    const bool needed = (chunk->name[0] & 0x20) == 0;  // an upper case letter
    const auto* summed = reinterpret_cast<const Bytef*>(chunk->summed.data());
    if (needed && crc32_z(0, summed, chunk->summed.size()) != chunk->sum) return "a checksum is wrong";
    if (chunk->name == "IEND") return nullptr;
  }
  return "it ends too early";
}

}  // namespace subako::picture
