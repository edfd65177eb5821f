#include "picture/gif_blocks.h"

#include <cstdint>

namespace subako::picture {

namespace {

constexpr uint8_t kExtension = 0x21;
constexpr uint8_t kFrame = 0x2c;
constexpr uint8_t kTrailer = 0x3b;
constexpr size_t kFrameHeadBytes = 9;

class Walk {
 public:
  explicit Walk(std::span<const std::byte> blocks) : blocks_(blocks) {}

  // False at the end of the file, here and below.
  [[nodiscard]] bool take(uint8_t& byte) {
    if (at_ == blocks_.size()) return false;
    byte = std::to_integer<uint8_t>(blocks_[at_++]);
    return true;
  }
  [[nodiscard]] bool skip(size_t count) {
    if (count > blocks_.size() - at_) return false;
    at_ += count;
    return true;
  }
  [[nodiscard]] bool skip_sub_blocks() {
    for (uint8_t size = 0; take(size);) {
      if (size == 0) return true;
      if (!skip(size)) return false;
    }
    return false;
  }
  [[nodiscard]] bool skip_frame() {
    uint8_t flags = 0;
    uint8_t code_size = 0;
    if (!skip(kFrameHeadBytes - 1) || !take(flags)) return false;
    const size_t palette = (flags & 0x80) != 0 ? size_t{3} << ((flags & 0x07) + 1) : 0;
    return skip(palette) && take(code_size) && skip_sub_blocks();
  }

 private:
  std::span<const std::byte> blocks_;
  size_t at_ = 0;
};

}  // namespace

GifRest gif_rest(std::span<const std::byte> blocks) {
  Walk walk(blocks);
  GifRest rest;
  for (uint8_t kind = 0; walk.take(kind);) {
    switch (kind) {
      case kTrailer:
        rest.whole = true;
        return rest;
      case kExtension: {
        uint8_t label = 0;
        if (!walk.take(label) || !walk.skip_sub_blocks()) return rest;
        break;
      }
      case kFrame:
        rest.more_frames = true;
        if (!walk.skip_frame()) return rest;
        break;
      default:
        return rest;
    }
  }
  return rest;
}

}  // namespace subako::picture
