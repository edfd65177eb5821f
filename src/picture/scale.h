// Scales a picture down while its rows come in, in memory for a few rows (spec: R4).
//
// A cubic filter (Catmull-Rom) as wide as the step from one pixel to the next, both ways by itself, so each
// pixel counts; weights of a pixel sum to one, so nothing is shifted or darkened, at the borders too. Colours
// are weighed by their alpha: what is transparent has no colour to give. Floats, rounded and clamped once at
// the end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "picture/pixels.h"

namespace subako::picture {

struct Size {
  uint32_t width = 0;
  uint32_t height = 0;
  bool operator==(const Size&) const = default;
};

// Its longer side at most `longest_side` (at least 1), the other in proportion, rounded, at least 1. Never
// larger than it was.
[[nodiscard]] Size fitted(Size size, uint32_t longest_side);

class Scaler {
 public:
  // From `from` to `to`, which is no larger either way. None: no memory.
  [[nodiscard]] static std::optional<Scaler> make(Size from, Size to);

  // Takes the rows from the top, from.width*4 bytes each, from.height in all.
  void row(std::span<const uint8_t> rgba);
  // After the last row.
  [[nodiscard]] Pixels take() { return std::move(scaled_); }

 private:
  typedef float Quad
      __attribute__((vector_size(16)));  // red, green, blue, alpha; colours multiplied by alpha

  // What one axis takes from where: target i is the sum of weights[at + k] * source[first + k], k < count.
  struct Tap {
    uint32_t first = 0;
    uint32_t count = 0;
    size_t at = 0;
    [[nodiscard]] uint32_t end() const { return first + count; }
  };
  struct Axis {
    std::vector<Tap> taps;
    std::vector<float> weights;
  };
  [[nodiscard]] static Axis axis(uint32_t from, uint32_t to);

  Scaler(Size from, Size to, Pixels scaled);
  void finish_row(uint32_t y, std::vector<Quad>& sums);

  Size from_;
  Pixels scaled_;
  Axis across_;
  Axis down_;
  std::vector<Quad> source_;    // the row that came in
  std::vector<Quad> narrowed_;  // it, scaled across
  std::vector<std::vector<Quad>>
      open_rows_;  // sums of the target rows that are not complete yet, target y at y % size
  uint32_t next_source_ = 0;
  uint32_t next_target_ = 0;  // the first that is not complete
};

}  // namespace subako::picture
