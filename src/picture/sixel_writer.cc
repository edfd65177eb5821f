#include <algorithm>
#include <string>

#include "picture/quantise.h"
#include "picture/write.h"

namespace subako::picture {

namespace {

constexpr uint32_t kBandRows = 6;
constexpr char kNoPixel = '?';  // a sixel's six pixels are the bits above this character

// Sixels in a row, repeated ones as "!count character" where that is shorter.
void put_run(std::string& out, char sixel, size_t count) {
  if (count > 3)
    out += "!" + std::to_string(count) + sixel;
  else
    out.append(count, sixel);
}

// One colour of a band: a character a column, without those at the end that are empty.
void put_columns(std::string& out, const std::string& columns) {
  for (size_t x = 0; x < columns.size();) {
    const size_t end = std::min(columns.find_first_not_of(columns[x], x), columns.size());
    if (end == columns.size() && columns[x] == kNoPixel) break;
    put_run(out, columns[x], end - x);
    x = end;
  }
}

// Six rows, colour after colour, each from the left again.
class Band {
 public:
  Band(uint32_t width, size_t colours) : empty_(width, kNoPixel), columns_(colours) {}

  void put(std::string& out, const Quantised& picture, uint32_t top) {
    used_.clear();
    const uint32_t bottom = std::min(top + kBandRows, picture.indices.height());
    for (uint32_t y = top; y < bottom; ++y) {
      const std::span<const uint8_t> row = picture.indices.row(y);
      for (size_t x = 0; x < row.size(); ++x) {
        const uint8_t colour = row[x];
        if (picture.transparent && colour == Quantised::kTransparent) continue;
        std::string& columns = columns_[colour];
        if (columns.empty()) {
          columns = empty_;
          used_.push_back(colour);
        }
        columns[x] = static_cast<char>(kNoPixel + ((columns[x] - kNoPixel) | 1 << (y - top)));
      }
    }
    for (size_t i = 0; i < used_.size(); ++i) {
      if (i != 0) out += '$';
      out += '#' + std::to_string(used_[i]);
      put_columns(out, columns_[used_[i]]);
      columns_[used_[i]].clear();
    }
  }

 private:
  std::string empty_;
  std::vector<std::string> columns_;  // by colour; empty where the band hasn't that colour
  std::vector<uint8_t> used_;         // in the order of their first pixel
};

}  // namespace

Written write_sixel(const Pixels& pixels) {
  const std::optional<Quantised> picture = quantise(pixels);
  if (!picture) return std::unexpected(no_memory());
  // Pixels that no sixel sets stay as they are on the screen; pixels are square; the size.
  std::string out =
      "\x1bP0;1;0q\"1;1;" + std::to_string(pixels.width()) + ";" + std::to_string(pixels.height());
  for (size_t i = 0; i < picture->colours.size(); ++i) {
    out += "#" + std::to_string(i) + ";2";
    for (const uint8_t channel : picture->colours[i])
      out += ";" + std::to_string((channel * 100 + 127) / 255);
  }
  uint64_t given_up = 0;  // bytes, where they are too many
  Band band(pixels.width(), picture->colours.size());
  for (uint32_t top = 0; top < pixels.height(); top += kBandRows) {
    if (top != 0) out += '-';
    band.put(out, *picture, top);
    if (given_up != 0 || out.size() > limits::kPictureBytes) {  // only counted from here on
      given_up += out.size();
      out.clear();
    }
  }
  out += "\x1b\\";
  if (given_up != 0 || out.size() > limits::kPictureBytes)
    return std::unexpected(too_many_bytes(pixels, given_up + out.size()));
  const auto bytes = std::as_bytes(std::span(out));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace subako::picture
