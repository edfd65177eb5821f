#include "picture/exif.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace subako::picture {

namespace {

// A TIFF block's numbers, in its own byte order; a read outside is 0, which no caller takes for anything.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes) : bytes_(bytes) {
    big_endian_ = bytes.size() >= 2 && at(0) == 'M' && at(1) == 'M';
    little_endian_ = bytes.size() >= 2 && at(0) == 'I' && at(1) == 'I';
  }
  [[nodiscard]] bool good() const { return (big_endian_ || little_endian_) && u16(2) == 42; }
  [[nodiscard]] bool holds(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }
  [[nodiscard]] uint32_t u16(uint64_t offset) const {
    if (!holds(offset, 2)) return 0;
    return big_endian_ ? at(offset) << 8 | at(offset + 1) : at(offset + 1) << 8 | at(offset);
  }
  [[nodiscard]] uint32_t u32(uint64_t offset) const {
    return big_endian_ ? u16(offset) << 16 | u16(offset + 2) : u16(offset + 2) << 16 | u16(offset);
  }

 private:
  [[nodiscard]] uint32_t at(uint64_t offset) const { return std::to_integer<uint32_t>(bytes_[offset]); }

  std::span<const std::byte> bytes_;
  bool big_endian_ = false;
  bool little_endian_ = false;
};

constexpr uint32_t kOrientationTag = 0x0112;
constexpr uint32_t kShort = 3;
constexpr uint64_t kEntryBytes = 12;

}  // namespace

Orientation orientation_of(std::span<const std::byte> exif) {
  constexpr std::array<char, 6> kPrefix = {'E', 'x', 'i', 'f', 0, 0};
  if (exif.size() >= kPrefix.size() && std::memcmp(exif.data(), kPrefix.data(), kPrefix.size()) == 0)
    exif = exif.subspan(kPrefix.size());
  const Tiff tiff(exif);
  if (!tiff.good()) return Orientation::kUpright;
  const uint64_t directory = tiff.u32(4);
  const uint32_t entries = tiff.u16(directory);
  for (uint32_t i = 0; i < entries; ++i) {
    const uint64_t entry = directory + 2 + i * kEntryBytes;
    if (!tiff.holds(entry, kEntryBytes)) break;
    if (tiff.u16(entry) != kOrientationTag) continue;
    const uint32_t value = tiff.u16(entry + 8);
    if (tiff.u16(entry + 2) == kShort && tiff.u32(entry + 4) == 1 && value >= 1 && value <= 8)
      return static_cast<Orientation>(value);
    break;
  }
  return Orientation::kUpright;
}

std::optional<Pixels> upright(Pixels stored, Orientation orientation) {
  if (orientation == Orientation::kUpright) return stored;
  const uint32_t w = stored.width();
  const uint32_t h = stored.height();
  std::optional<Pixels> turned = swaps_sides(orientation) ? Pixels::make(h, w) : Pixels::make(w, h);
  if (!turned) return std::nullopt;
  const auto from = [&](uint32_t x, uint32_t y) -> std::pair<uint32_t, uint32_t> {
    switch (orientation) {
      case Orientation::kUpright:
        break;
      case Orientation::kMirrored:
        return {w - 1 - x, y};
      case Orientation::kUpsideDown:
        return {w - 1 - x, h - 1 - y};
      case Orientation::kFlipped:
        return {x, h - 1 - y};
      case Orientation::kTransposed:
        return {y, x};
      case Orientation::kQuarterRight:
        return {y, h - 1 - x};
      case Orientation::kTransversed:
        return {w - 1 - y, h - 1 - x};
      case Orientation::kQuarterLeft:
        return {w - 1 - y, x};
    }
    return {x, y};
  };
  for (uint32_t y = 0; y < turned->height(); ++y) {
    uint8_t* to = turned->row(y).data();
    for (uint32_t x = 0; x < turned->width(); ++x) {
      const auto [from_x, from_y] = from(x, y);
      std::memcpy(to + size_t{x} * 4, stored.row(from_y).data() + size_t{from_x} * 4, 4);
    }
  }
  return turned;
}

}  // namespace subako::picture
