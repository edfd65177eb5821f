// A rectangle of pixels in memory, rows from the top without gaps, zeroed: RGBA (8 bits each, colour not
// multiplied by alpha), or one byte a pixel for palette indices. Large ones take memory only where they are
// written to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

namespace subako::picture {

class Pixels {
 public:
  Pixels() = default;

  // None: there is no memory for it. The sides were checked against a limit before.
  [[nodiscard]] static std::optional<Pixels> make(uint32_t width, uint32_t height, uint32_t bytes_each = 4) {
    const size_t row = size_t{width} * bytes_each;
    void* memory = std::calloc(height, row);  // calloc checks the product
    if (memory == nullptr) return std::nullopt;
    return Pixels(width, height, row, static_cast<uint8_t*>(memory));
  }

  [[nodiscard]] uint32_t width() const { return width_; }
  [[nodiscard]] uint32_t height() const { return height_; }
  [[nodiscard]] std::span<uint8_t> row(uint32_t y) { return {memory_.get() + y * row_, row_}; }
  [[nodiscard]] std::span<const uint8_t> row(uint32_t y) const { return {memory_.get() + y * row_, row_}; }
  [[nodiscard]] std::span<uint8_t> all() { return {memory_.get(), row_ * height_}; }
  [[nodiscard]] std::span<const uint8_t> all() const { return {memory_.get(), row_ * height_}; }

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  Pixels(uint32_t width, uint32_t height, size_t row, uint8_t* memory)
      : width_(width), height_(height), row_(row), memory_(memory) {}

  uint32_t width_ = 0;
  uint32_t height_ = 0;
  size_t row_ = 0;  // bytes
  std::unique_ptr<uint8_t, Free> memory_;
};

}  // namespace subako::picture
