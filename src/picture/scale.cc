#include "picture/scale.h"

#include <algorithm>
#include <cmath>

namespace subako::picture {

namespace {

constexpr double kReach = 2.0;  // of the filter, in steps

// Catmull-Rom.
double cubic(double x) {
  x = std::abs(x);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  if (x < kReach) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
  return 0;
}

uint8_t rounded(float value) {
  return static_cast<uint8_t>(std::clamp(value, 0.0F, 255.0F) + 0.5F);
}

}  // namespace

Size fitted(Size size, uint32_t longest_side) {
  const uint64_t longer = std::max(size.width, size.height);
  const uint64_t most = std::max(longest_side, 1U);
  if (longer <= most) return size;
  const auto scaled = [&](uint64_t side) {
    return static_cast<uint32_t>(std::max<uint64_t>((side * most + longer / 2) / longer, 1));
  };
  return {scaled(size.width), scaled(size.height)};
}

Scaler::Axis Scaler::axis(uint32_t from, uint32_t to) {
  Axis axis;
  axis.taps.reserve(to);
  const double step = static_cast<double>(from) / to;
  const double reach = kReach * step;
  for (uint32_t i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * step;
    const auto first = static_cast<uint32_t>(std::max(std::floor(centre - reach), 0.0));
    const auto end = static_cast<uint32_t>(std::min(std::ceil(centre + reach), static_cast<double>(from)));
    const Tap tap{first, end - first, axis.weights.size()};
    double sum = 0;
    for (uint32_t k = first; k < end; ++k) sum += cubic((k + 0.5 - centre) / step);
    for (uint32_t k = first; k < end; ++k)
      axis.weights.push_back(static_cast<float>(cubic((k + 0.5 - centre) / step) / sum));
    axis.taps.push_back(tap);
  }
  return axis;
}

std::optional<Scaler> Scaler::make(Size from, Size to) {
  std::optional<Pixels> scaled = Pixels::make(to.width, to.height);
  if (!scaled) return std::nullopt;
  return Scaler(from, to, *std::move(scaled));
}

Scaler::Scaler(Size from, Size to, Pixels scaled)
    : from_(from),
      scaled_(std::move(scaled)),
      across_(axis(from.width, to.width)),
      down_(axis(from.height, to.height)),
      source_(from.width),
      narrowed_(to.width) {
  // As many rows as one source row can give to: those that begin before the oldest of them is complete.
  size_t most = 1;
  for (size_t oldest = 0, newest = 0; oldest < down_.taps.size(); ++oldest) {
    while (newest < down_.taps.size() && down_.taps[newest].first < down_.taps[oldest].end()) ++newest;
    most = std::max(most, newest - oldest);
  }
  open_rows_.assign(most, std::vector<Quad>(to.width, Quad{}));
}

void Scaler::row(std::span<const uint8_t> rgba) {
  for (uint32_t x = 0; x < from_.width; ++x) {
    const uint8_t* pixel = &rgba[size_t{x} * 4];
    const float alpha = static_cast<float>(pixel[3]);
    const float part = alpha / 255.0F;
    source_[x] = Quad{static_cast<float>(pixel[0]) * part, static_cast<float>(pixel[1]) * part,
                      static_cast<float>(pixel[2]) * part, alpha};
  }
  for (size_t x = 0; x < narrowed_.size(); ++x) {
    const Tap& tap = across_.taps[x];
    const float* weights = &across_.weights[tap.at];
    const Quad* source = &source_[tap.first];
    Quad sum{};
    for (uint32_t k = 0; k < tap.count; ++k) sum += weights[k] * source[k];
    narrowed_[x] = sum;
  }
  const uint32_t y = next_source_++;
  for (uint32_t target = next_target_; target < down_.taps.size(); ++target) {
    const Tap& tap = down_.taps[target];
    if (tap.first > y) break;
    const float weight = down_.weights[tap.at + (y - tap.first)];
    std::vector<Quad>& sums = open_rows_[target % open_rows_.size()];
    for (size_t x = 0; x < sums.size(); ++x) sums[x] += weight * narrowed_[x];
  }
  while (next_target_ < down_.taps.size() && down_.taps[next_target_].end() == next_source_) {
    finish_row(next_target_, open_rows_[next_target_ % open_rows_.size()]);
    ++next_target_;
  }
}

void Scaler::finish_row(uint32_t y, std::vector<Quad>& sums) {
  uint8_t* out = scaled_.row(y).data();
  for (Quad& sum : sums) {
    const uint8_t alpha = rounded(sum[3]);
    if (alpha != 0) {  // else the pixel stays as it was made: nothing
      const float whole = 255.0F / sum[3];
      for (int channel = 0; channel < 3; ++channel) out[channel] = rounded(sum[channel] * whole);
      out[3] = alpha;
    }
    out += 4;
    sum = Quad{};
  }
}

}  // namespace subako::picture
