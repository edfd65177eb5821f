// A picture being decoded: its rows from the top, one by one, whatever its format (spec: R4, R5).
//
// The libraries beneath answer errors with longjmp or a code; neither passes this interface. A function that
// calls setjmp has no object with a destructor in it, nor has any callback that a jump leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "picture/exif.h"
#include "picture/picture.h"

namespace subako::picture {

struct SourceInfo {
  uint32_t width = 0;  // as stored, before turning
  uint32_t height = 0;
  Orientation orientation = Orientation::kUpright;
  bool animated = false;                  // of more frames than one
  bool grey = false;                      // stored without colour
  bool lossless = false;                  // WebP has both kinds
  std::vector<std::byte> colour_profile;  // ICC, in the wrapping of its format; only of one that goes along
};

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  [[nodiscard]] const SourceInfo& info() const { return info_; }

  // The next row, RGBA, into width*4 bytes. False: it can't be decoded, see why().
  [[nodiscard]] virtual bool row(std::span<uint8_t> rgba) = 0;
  // After the last row: is the file whole to its end?
  [[nodiscard]] virtual bool end() = 0;
  // What the library said when row() or end() answered false.
  [[nodiscard]] virtual Unshowable why() const = 0;

 protected:
  SourceInfo info_;
};

// A source stands before its first row: header read, its size checked against `most_pixels`, nothing of that
// size allocated before. `bytes` outlives it.
using Opened = std::expected<std::unique_ptr<Source>, Unshowable>;
[[nodiscard]] Opened open_png(std::span<const std::byte> bytes, uint64_t most_pixels);
[[nodiscard]] Opened open_jpeg(std::span<const std::byte> bytes, uint64_t most_pixels);
[[nodiscard]] Opened open_gif(std::span<const std::byte> bytes, uint64_t most_pixels);
[[nodiscard]] Opened open_webp(std::span<const std::byte> bytes, uint64_t most_pixels);

// Reasons in one wording.
[[nodiscard]] Unshowable damaged(std::string_view detail);  // `detail` may quote the file
[[nodiscard]] Unshowable no_memory();
// Why a picture of this size isn't decoded; an empty reason: it is.
[[nodiscard]] Unshowable refused_size(uint64_t width, uint64_t height, uint64_t most_pixels);

}  // namespace subako::picture
