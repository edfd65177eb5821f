// Pixels to a picture's bytes, in each format (spec: R4). The pixels are RGBA, upright and scaled; `source`
// says what of its own ways is kept: grey, lossless, a colour profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <vector>

#include "picture/pixels.h"
#include "picture/source.h"

namespace subako::picture {

using Written = std::expected<std::vector<std::byte>, Unshowable>;

// 8 bits; grey, colour, either with alpha where a pixel isn't opaque. Packed harder where it would pass
// limits::kPictureBytes.
[[nodiscard]] Written write_png(const Pixels& pixels, const SourceInfo& source);

// Quality 90, colour as fine as brightness, grey stays grey. Alpha is not looked at.
[[nodiscard]] Written write_jpeg(const Pixels& pixels, const SourceInfo& source);
// Up to 256 colours, dithered where there are more; what is more than half transparent is left out.
[[nodiscard]] Written write_gif(const Pixels& pixels);
// Lossless where the source is; else quality 90.
[[nodiscard]] Written write_webp(const Pixels& pixels, const SourceInfo& source);
// DEC sixels, the whole sequence from ESC P to ESC \, in colours as write_gif has them; transparent pixels
// leave the screen as it is.
[[nodiscard]] Written write_sixel(const Pixels& pixels);

[[nodiscard]] bool opaque(const Pixels& pixels);

// Reasons in one wording.
[[nodiscard]] Unshowable too_many_bytes(const Pixels& pixels, uint64_t bytes);
[[nodiscard]] Unshowable not_written(std::string_view detail);

}  // namespace subako::picture
