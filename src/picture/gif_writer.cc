#include <gif_lib.h>

#include <bit>
#include <vector>

#include "picture/out_buffer.h"
#include "picture/quantise.h"
#include "picture/write.h"

namespace subako::picture {

namespace {

int on_write(GifFileType* gif, const GifByteType* bytes, int size) {
  static_cast<OutBuffer*>(gif->UserData)->put(bytes, static_cast<size_t>(size));
  return size;
}

// 2 to 256 entries, a power of two, as giflib wants them.
ColorMapObject* palette_of(const Quantised& picture) {
  const size_t used = picture.transparent ? Quantised::kTransparent + size_t{1} : picture.colours.size();
  const size_t entries = std::bit_ceil(std::max<size_t>(used, 2));
  ColorMapObject* palette = GifMakeMapObject(static_cast<int>(entries), nullptr);
  if (palette == nullptr) return nullptr;
  for (size_t i = 0; i < picture.colours.size(); ++i) {
    const Colour& colour = picture.colours[i];
    palette->Colors[i] = {colour[0], colour[1], colour[2]};
  }
  return palette;
}

bool write(GifFileType* gif, const Quantised& picture, const ColorMapObject* palette) {
  const auto width = static_cast<int>(picture.indices.width());
  const auto height = static_cast<int>(picture.indices.height());
  EGifSetGifVersion(gif, true);
  if (EGifPutScreenDesc(gif, width, height, 8, 0, palette) != GIF_OK) return false;
  if (picture.transparent) {
    const GraphicsControlBlock control{DISPOSAL_UNSPECIFIED, false, 0, Quantised::kTransparent};
    GifByteType block[4];
    const auto size = static_cast<int>(EGifGCBToExtension(&control, block));
    if (EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, size, block) != GIF_OK) return false;
  }
  if (EGifPutImageDesc(gif, 0, 0, width, height, false, nullptr) != GIF_OK) return false;
  for (uint32_t y = 0; y < picture.indices.height(); ++y) {
    const std::span<const uint8_t> row = picture.indices.row(y);
    std::vector<uint8_t> line(row.begin(), row.end());  // giflib writes to it
    if (EGifPutLine(gif, line.data(), width) != GIF_OK) return false;
  }
  return true;
}

}  // namespace

Written write_gif(const Pixels& pixels) {
  const std::optional<Quantised> picture = quantise(pixels);
  if (!picture) return std::unexpected(no_memory());
  OutBuffer out;
  int code = 0;
  GifFileType* gif = EGifOpen(&out, on_write, &code);
  ColorMapObject* palette = palette_of(*picture);
  bool written = gif != nullptr && palette != nullptr && write(gif, *picture, palette);
  if (gif != nullptr) {
    if (!written) code = gif->Error;
    written = (EGifCloseFile(gif, nullptr) == GIF_OK) && written;
  }
  GifFreeMapObject(palette);
  if (!written) {
    const char* told = GifErrorString(code);
    return std::unexpected(not_written(told != nullptr ? told : "giflib"));
  }
  if (!out.fits()) return std::unexpected(too_many_bytes(pixels, out.wanted()));
  return out.copy();
}

}  // namespace subako::picture
