// The one thing that EXIF says about how a picture is to be shown: which way up it is (spec: R4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "picture/pixels.h"

namespace subako::picture {

// The values of EXIF's tag 0x0112: what has to be done to the stored rows to stand upright.
enum class Orientation : uint8_t {
  kUpright = 1,
  kMirrored = 2,      // left and right change places
  kUpsideDown = 3,    // a half turn
  kFlipped = 4,       // top and bottom change places
  kTransposed = 5,    // rows become columns
  kQuarterRight = 6,  // a quarter turn clockwise
  kTransversed = 7,   // rows become columns from the right, upwards
  kQuarterLeft = 8,   // a quarter turn anticlockwise
};

// From a TIFF block as JPEG (APP1), PNG (eXIf) and WebP (EXIF) hold it, with or without "Exif\0\0" before it.
// What is damaged, absent or out of range is upright.
[[nodiscard]] Orientation orientation_of(std::span<const std::byte> exif);

// Do width and height change places?
[[nodiscard]] constexpr bool swaps_sides(Orientation orientation) {
  return orientation >= Orientation::kTransposed;
}

// The picture turned upright (RGBA). None: no memory.
[[nodiscard]] std::optional<Pixels> upright(Pixels stored, Orientation orientation);

}  // namespace subako::picture
