// Pictures made for the tests, by the libraries' simple interfaces, which the room itself doesn't use.
#pragma once

#include <png.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
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

inline Image draw(uint32_t width, uint32_t height,
                  const std::function<Rgba(uint32_t x, uint32_t y)>& colour) {
  Image image{width, height, {}};
  image.pixels.reserve(size_t{width} * height);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) image.pixels.push_back(colour(x, y));
  return image;
}

inline Bytes bytes_of(const void* data, size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return {bytes, bytes + size};
}

inline Bytes png(const Image& image) {
  png_image file{};
  file.version = PNG_IMAGE_VERSION;
  file.width = image.width;
  file.height = image.height;
  file.format = PNG_FORMAT_RGBA;
  file.flags = PNG_IMAGE_FLAG_FAST;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(file);
  Bytes bytes(size);
  if (png_image_write_to_memory(&file, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) == 0)
    return {};
  bytes.resize(size);
  return bytes;
}

// Empty where it can't be read.
inline Image read_png(std::span<const std::byte> bytes) {
  png_image file{};
  file.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&file, bytes.data(), bytes.size()) == 0) return {};
  file.format = PNG_FORMAT_RGBA;
  Image image{file.width, file.height, std::vector<Rgba>(size_t{file.width} * file.height)};
  if (png_image_finish_read(&file, nullptr, image.pixels.data(), 0, nullptr) == 0) return {};
  return image;
}

}  // namespace subako::picture::fixture
