// Pictures made for the tests, and read back by them: by the libraries, but not through any code of the room.
#pragma once

#include <png.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace subako::picture::fixture {

using Bytes = std::vector<std::byte>;

struct Rgba {
  uint8_t r = 0;
  uint8_t g = 0;
  uint8_t b = 0;
  uint8_t a = 255;
  bool operator==(const Rgba&) const = default;
};

// Not Pixels: the tests have their own idea of a picture.
struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<Rgba> pixels;
  [[nodiscard]] Rgba at(uint32_t x, uint32_t y) const { return pixels.at(size_t{y} * width + x); }
};

[[nodiscard]] Image draw(uint32_t width, uint32_t height,
                         const std::function<Rgba(uint32_t x, uint32_t y)>& colour);

// A board of 4 x 4 fields, each of its own colour, of which none is like another after any turn.
[[nodiscard]] Image board(uint32_t width, uint32_t height);
[[nodiscard]] Rgba board_colour(uint32_t column, uint32_t row);
[[nodiscard]] Image grey_board(uint32_t width, uint32_t height);
// Noise, the same at each run.
[[nodiscard]] Image noise(uint32_t width, uint32_t height);

[[nodiscard]] Bytes bytes_of(std::string_view text);
// An EXIF block (TIFF, no prefix) that says this orientation; it may be out of range.
[[nodiscard]] Bytes exif(uint16_t orientation, bool big_endian = true);
// A chunk of a PNG, with its sum.
[[nodiscard]] Bytes png_chunk(std::string_view name, std::span<const std::byte> data);
// A PNG of these sides with these image data and nothing else; colour type and depth as in the file.
[[nodiscard]] Bytes raw_png(uint32_t width, uint32_t height, uint8_t depth, uint8_t type,
                            std::span<const std::byte> image_data);

struct PngKind {
  int type = PNG_COLOR_TYPE_RGBA;
  int depth = 8;
  bool interlaced = false;
  bool transparent_colour = false;  // tRNS: the palette's alpha, or the colour of pixel (0, 0)
  std::vector<std::pair<std::string, Bytes>> chunks{};  // before the image data
};
[[nodiscard]] Bytes png(const Image& image, const PngKind& kind = {});

struct JpegKind {
  bool progressive = false;
  bool grey = false;
  bool cmyk = false;  // inverted, with Adobe's marker
  bool ycck = false;
  int quality = 95;
  bool subsampled = false;
  std::vector<std::pair<int, Bytes>> markers{};  // APPn
};
[[nodiscard]] Bytes jpeg(const Image& image, const JpegKind& kind = {});

struct GifFrame {
  Image image;  // of at most 256 colours; what is more than half transparent is left out
  uint32_t left = 0;
  uint32_t top = 0;
  bool interlaced = false;
  bool local_palette = false;
};
// On a canvas as large as the first frame where `width` is 0. The global palette is the first frame's.
[[nodiscard]] Bytes gif(const std::vector<GifFrame>& frames, uint32_t width = 0, uint32_t height = 0);

struct WebpKind {
  bool lossless = false;
  std::vector<std::pair<std::string, Bytes>> chunks{};  // EXIF, ICCP
};
[[nodiscard]] Bytes webp(const Image& image, const WebpKind& kind = {});
[[nodiscard]] Bytes animated_webp(const std::vector<Image>& frames);

// Empty where it can't be read. Nothing is turned.
[[nodiscard]] Image read_png(std::span<const std::byte> bytes);
[[nodiscard]] Image read_jpeg(std::span<const std::byte> bytes);
[[nodiscard]] Image read_gif(std::span<const std::byte> bytes);
[[nodiscard]] Image read_webp(std::span<const std::byte> bytes);
[[nodiscard]] Image read_sixel(std::span<const std::byte> bytes);

}  // namespace subako::picture::fixture
