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

[[nodiscard]] bool opaque(const Pixels& pixels);

// Reasons in one wording.
[[nodiscard]] Unshowable too_many_bytes(const Pixels& pixels, uint64_t bytes);
[[nodiscard]] Unshowable not_written(std::string_view detail);

}  // namespace subako::picture
