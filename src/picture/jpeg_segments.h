// What a JPEG says of itself before its image data, walked beside libjpeg, which keeps such segments in a
// list that takes longer to add to with each.
#pragma once

#include <cstddef>
#include <span>

namespace subako::picture {

struct JpegSegments {
  std::span<const std::byte> exif;  // "Exif\0\0" and a TIFF block, of the first APP1 that has one; or empty
  std::span<const std::byte>
      colour_profile;  // the data of APP2 where the whole profile is in one segment; or empty
};

// Stops at the image data or at damage, of which libjpeg tells.
[[nodiscard]] JpegSegments jpeg_segments(std::span<const std::byte> jpeg);

}  // namespace subako::picture
