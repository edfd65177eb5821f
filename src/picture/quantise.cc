#include "picture/quantise.h"

#include <algorithm>
#include <limits>
#include <span>

namespace subako::picture {

namespace {

constexpr uint8_t kSolid = 128;  // alpha from which a pixel is there

Colour colour_at(const uint8_t* pixel) {
  return {pixel[0], pixel[1], pixel[2]};
}

// Which index each colour has, as long as there are few: a hash table of fixed size.
class FewColours {
 public:
  explicit FewColours(size_t most) : most_(most) { slots_.fill(kFree); }

  // False: it would be one too many.
  [[nodiscard]] bool add(Colour colour) {
    int16_t& slot = slots_[find(colour)];
    if (slot != kFree) return true;
    if (colours_.size() == most_) return false;
    slot = static_cast<int16_t>(colours_.size());
    colours_.push_back(colour);
    return true;
  }
  [[nodiscard]] uint8_t index(Colour colour) const { return static_cast<uint8_t>(slots_[find(colour)]); }
  [[nodiscard]] const std::vector<Colour>& colours() const { return colours_; }

 private:
  static constexpr size_t kSlots = 1024;  // four times as many as colours: probes are short
  static constexpr int16_t kFree = -1;

  [[nodiscard]] size_t find(Colour colour) const {
    const uint32_t key = uint32_t{colour[0]} << 16 | uint32_t{colour[1]} << 8 | colour[2];
    size_t at = (key * 2'654'435'761U) >> 22;
    while (slots_[at] != kFree && colours_[static_cast<size_t>(slots_[at])] != colour) at = (at + 1) % kSlots;
    return at;
  }

  size_t most_;
  std::array<int16_t, kSlots> slots_{};
  std::vector<Colour> colours_;
};

// Colours that lie together in a cube of 8 x 8 x 8, and how many pixels have them.
struct Cell {
  uint64_t count = 0;
  std::array<uint64_t, 3> sum{};
  [[nodiscard]] double mean(size_t channel) const {
    return static_cast<double>(sum[channel]) / static_cast<double>(count);
  }
};

// Cells that will share one colour.
struct Box {
  std::span<Cell> cells;
  Cell all{};
  size_t widest = 0;  // the channel in which they differ most
  double spread = 0;  // summed squares of that difference

  explicit Box(std::span<Cell> its_cells) : cells(its_cells) {
    for (const Cell& cell : cells) {
      all.count += cell.count;
      for (size_t c = 0; c < 3; ++c) all.sum[c] += cell.sum[c];
    }
    for (size_t c = 0; c < 3; ++c) {
      double squares = 0;
      for (const Cell& cell : cells) {
        const double off = cell.mean(c) - all.mean(c);
        squares += off * off * static_cast<double>(cell.count);
      }
      if (squares > spread) {
        spread = squares;
        widest = c;
      }
    }
  }
};

std::vector<Colour> chosen_colours(const Pixels& pixels, size_t most) {
  constexpr size_t kCells = size_t{1} << 15;
  std::vector<Cell> cells(kCells);
  const std::span<const uint8_t> all = pixels.all();
  for (size_t i = 0; i < all.size(); i += 4) {
    if (all[i + 3] < kSolid) continue;
    const size_t at = size_t{all[i]} >> 3 << 10 | size_t{all[i + 1]} >> 3 << 5 | size_t{all[i + 2]} >> 3;
    ++cells[at].count;
    for (size_t c = 0; c < 3; ++c) cells[at].sum[c] += all[i + c];
  }
  std::erase_if(cells, [](const Cell& cell) { return cell.count == 0; });

  std::vector<Box> boxes = {Box(cells)};
  while (boxes.size() < most) {
    const auto widest = std::ranges::max_element(boxes, {}, &Box::spread);
    if (widest->spread <= 0) break;
    const size_t channel = widest->widest;
    const double middle = widest->all.mean(channel);
    // Both parts hold something: cells that differ lie on both sides of their mean.
    const auto upper =
        std::ranges::partition(widest->cells, [&](const Cell& cell) { return cell.mean(channel) < middle; });
    const size_t lower_count = widest->cells.size() - upper.size();
    if (lower_count == 0 || upper.empty()) {  // but for rounding
      widest->spread = 0;
      continue;
    }
    const std::span<Cell> both = widest->cells;
    *widest = Box(both.first(lower_count));
    boxes.emplace_back(both.subspan(lower_count));
  }

  std::vector<Colour> colours;
  for (const Box& box : boxes) {
    // What most of its pixels have is kept as it is, so that areas of one colour stay free of dots.
    const Cell& largest = *std::ranges::max_element(box.cells, {}, &Cell::count);
    const Cell& chosen = largest.count > box.all.count / 2 ? largest : box.all;
    Colour colour{};
    for (size_t c = 0; c < 3; ++c)
      colour[c] = static_cast<uint8_t>((chosen.sum[c] + chosen.count / 2) / chosen.count);
    colours.push_back(colour);
  }
  return colours;
}

// The nearest of the colours, found once for each cube of 4 x 4 x 4 colours.
class Nearest {
 public:
  explicit Nearest(const std::vector<Colour>& colours)
      : colours_(colours), known_(size_t{1} << 18, kUnknown) {}

  [[nodiscard]] uint8_t to(const std::array<int, 3>& colour) {
    const auto at = static_cast<size_t>(colour[0] >> 2 << 12 | colour[1] >> 2 << 6 | colour[2] >> 2);
    if (known_[at] == kUnknown) known_[at] = static_cast<int16_t>(search(colour));
    return static_cast<uint8_t>(known_[at]);
  }

 private:
  static constexpr int16_t kUnknown = -1;

  [[nodiscard]] size_t search(const std::array<int, 3>& colour) const {
    size_t best = 0;
    int least = std::numeric_limits<int>::max();
    for (size_t i = 0; i < colours_.size(); ++i) {
      int distance = 0;
      for (size_t c = 0; c < 3; ++c) {
        const int off = (colour[c] & ~3) + 2 - colours_[i][c];  // from the middle of the cube
        distance += off * off;
      }
      if (distance < least) {
        least = distance;
        best = i;
      }
    }
    return best;
  }

  const std::vector<Colour>& colours_;
  std::vector<int16_t> known_;
};

// Floyd and Steinberg's, each row the other way round than the one before, so that no direction shows.
void diffuse(const Pixels& pixels, Quantised& to) {
  using Error = std::array<int, 3>;  // in sixteenths
  const auto width = static_cast<ptrdiff_t>(pixels.width());
  Nearest nearest(to.colours);
  // One more on each side, so that borders need no care.
  std::vector<Error> here(static_cast<size_t>(width) + 2);
  std::vector<Error> below(here.size());
  for (uint32_t y = 0; y < pixels.height(); ++y) {
    const bool forth = y % 2 == 0;
    const ptrdiff_t step = forth ? 1 : -1;
    const uint8_t* from = pixels.row(y).data();
    uint8_t* indices = to.indices.row(y).data();
    for (ptrdiff_t x = forth ? 0 : width - 1; x >= 0 && x < width; x += step) {
      const uint8_t* pixel = from + x * 4;
      if (pixel[3] < kSolid) {
        indices[x] = Quantised::kTransparent;
        continue;
      }
      const auto at = static_cast<size_t>(x + 1);
      const auto next = static_cast<size_t>(x + 1 + step);
      const auto last = static_cast<size_t>(x + 1 - step);
      std::array<int, 3> wanted{};
      for (size_t c = 0; c < 3; ++c) wanted[c] = std::clamp(pixel[c] + (here[at][c] + 8) / 16, 0, 255);
      const uint8_t index = nearest.to(wanted);
      indices[x] = index;
      for (size_t c = 0; c < 3; ++c) {
        const int error = wanted[c] - to.colours[index][c];
        here[next][c] += error * 7;
        below[last][c] += error * 3;
        below[at][c] += error * 5;
        below[next][c] += error;
      }
    }
    std::swap(here, below);
    std::ranges::fill(below, Error{});
  }
}

}  // namespace

std::optional<Quantised> quantise(const Pixels& pixels) {
  std::optional<Pixels> indices = Pixels::make(pixels.width(), pixels.height(), 1);
  if (!indices) return std::nullopt;
  Quantised quantised;
  quantised.indices = *std::move(indices);
  const std::span<const uint8_t> all = pixels.all();
  for (size_t i = 3; i < all.size() && !quantised.transparent; i += 4)
    quantised.transparent = all[i] < kSolid;
  const size_t most = quantised.transparent ? 255 : 256;

  FewColours few(most);
  bool are_few = true;
  for (size_t i = 0; i < all.size() && are_few; i += 4)
    if (all[i + 3] >= kSolid) are_few = few.add(colour_at(&all[i]));
  if (!are_few) {
    quantised.colours = chosen_colours(pixels, most);
    diffuse(pixels, quantised);
    return quantised;
  }
  quantised.colours = few.colours();
  if (quantised.colours.empty()) quantised.colours.push_back({});  // nothing is there: still a palette
  const std::span<uint8_t> to = quantised.indices.all();
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = all[i * 4 + 3] >= kSolid ? few.index(colour_at(&all[i * 4])) : Quantised::kTransparent;
  return quantised;
}

}  // namespace subako::picture
