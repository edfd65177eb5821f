#include "picture/source.h"

#include "base/quote.h"

namespace subako::picture {

namespace {
constexpr uint64_t kMostSide =
    65'535;  // what JPEG and GIF can say; a PNG that is longer is no picture to look at
constexpr size_t kDetailBytes = 120;  // of what a library says
}  // namespace

Unshowable damaged(std::string_view detail) {
  if (detail.empty()) return {"it is cut off or damaged"};
  return {"it is cut off or damaged (" + shortened(detail, kDetailBytes) + ")"};
}

Unshowable no_memory() {
  return {"decoding it takes more memory than a picture may have"};
}

Unshowable refused_size(uint64_t width, uint64_t height, uint64_t most_pixels) {
  const std::string size = "its size of " + grouped(width) + " × " + grouped(height) + " pixels ";
  if (width == 0 || height == 0) return {size + "leaves nothing to show"};
  if (width > kMostSide || height > kMostSide)
    return {size + "passes the " + grouped(kMostSide) + " that a side may have"};
  if (width * height > most_pixels)
    return {size + "passes the " + grouped(most_pixels) + " pixels that a picture may have"};
  return {};
}

}  // namespace subako::picture
