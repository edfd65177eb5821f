#include "picture/write.h"

#include "base/quote.h"

namespace subako::picture {

bool opaque(const Pixels& pixels) {
  const std::span<const uint8_t> all = pixels.all();
  for (size_t i = 3; i < all.size(); i += 4)
    if (all[i] != 255) return false;
  return true;
}

Unshowable too_many_bytes(const Pixels& pixels, uint64_t bytes) {
  return {"scaled to " + grouped(pixels.width()) + " × " + grouped(pixels.height()) + " pixels it has " +
          grouped(bytes) + " bytes, over the " + grouped(limits::kPictureBytes) + " that a picture may have"};
}

Unshowable not_written(std::string_view detail) {
  return {"scaling it down failed (" + shortened(detail) + ")"};
}

}  // namespace subako::picture
