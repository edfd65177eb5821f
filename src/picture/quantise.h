// A picture in at most 256 colours, for the formats that have no more: GIF and sixels (spec: R4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "picture/pixels.h"

namespace subako::picture {

using Colour = std::array<uint8_t, 3>;

struct Quantised {
  static constexpr uint8_t kTransparent = 255;  // the index of pixels that are left out, if `transparent`

  std::vector<Colour> colours;  // up to 256, or up to 255 if `transparent`; at least one
  bool transparent = false;     // some pixels are
  Pixels indices;               // one byte a pixel
};

// A picture of no more colours keeps each as it is; of others, colours are chosen by median cut and errors
// are diffused to the pixels beside and below. A pixel is left out where its alpha is under a half; else its
// alpha is forgotten. None: no memory.
[[nodiscard]] std::optional<Quantised> quantise(const Pixels& pixels);

}  // namespace subako::picture
