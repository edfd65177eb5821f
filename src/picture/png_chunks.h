// The chunks of a PNG, walked before libpng sees it: what it doesn't tell (animations), and what we want as
// it is stored.
#pragma once

#include <cstddef>
#include <span>

namespace subako::picture {

struct PngChunks {
  bool animated = false;            // an acTL chunk before the image data tells of several frames: an APNG
  std::span<const std::byte> exif;  // of the eXIf chunk, before or after the image data, or empty
  std::span<const std::byte> colour_profile;  // of the iCCP chunk: name, method, compressed profile; or empty
};

// Stops at damage, of which libpng or png_damage() tells.
[[nodiscard]] PngChunks png_chunks(std::span<const std::byte> png);

// What is wrong with the chunks that the picture needs, up to the last, IEND: one is cut off, or its sum is
// wrong. Null: nothing.
[[nodiscard]] const char* png_damage(std::span<const std::byte> png);

}  // namespace subako::picture
