#include "picture/picture.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "picture/scale.h"
#include "picture/source.h"
#include "picture/write.h"
#include "protocol/picture_note.h"

namespace subako::picture {

namespace {

using protocol::PictureFormat;

Opened open(PictureFormat format, std::span<const std::byte> bytes, uint64_t most_pixels) {
  switch (format) {
    case PictureFormat::kPng:
      return open_png(bytes, most_pixels);
    case PictureFormat::kJpeg:
      return open_jpeg(bytes, most_pixels);
    case PictureFormat::kGif:
      return open_gif(bytes, most_pixels);
    case PictureFormat::kWebp:
      return open_webp(bytes, most_pixels);
  }
  std::unreachable();
}

// To the end, for its damage alone.
std::optional<Unshowable> decode_away(Source& source) {
  std::vector<uint8_t> row(size_t{source.info().width} * 4);
  for (uint32_t y = 0; y < source.info().height; ++y)
    if (!source.row(row)) return source.why();
  if (!source.end()) return source.why();
  return std::nullopt;
}

std::expected<Pixels, Unshowable> decode(Source& source, Size to) {
  const Size from{source.info().width, source.info().height};
  std::expected<Pixels, Unshowable> decoded;
  if (from == to) {
    std::optional<Pixels> pixels = Pixels::make(from.width, from.height);
    if (!pixels) return std::unexpected(no_memory());
    for (uint32_t y = 0; y < from.height; ++y)
      if (!source.row(pixels->row(y))) return std::unexpected(source.why());
    decoded = *std::move(pixels);
  } else {
    std::optional<Scaler> scaler = Scaler::make(from, to);
    if (!scaler) return std::unexpected(no_memory());
    std::vector<uint8_t> row(size_t{from.width} * 4);
    for (uint32_t y = 0; y < from.height; ++y) {
      if (!source.row(row)) return std::unexpected(source.why());
      scaler->row(row);
    }
    decoded = scaler->take();
  }
  if (!source.end()) return std::unexpected(source.why());
  return decoded;
}

Written write(As as, PictureFormat format, const Pixels& pixels, const SourceInfo& info) {
  if (as == As::kSixel) return write_sixel(pixels);
  if (as == As::kPng) format = PictureFormat::kPng;
  switch (format) {
    case PictureFormat::kPng:
      return write_png(pixels, info);
    case PictureFormat::kJpeg:
      return write_jpeg(pixels, info);
    case PictureFormat::kGif:
      return write_gif(pixels);
    case PictureFormat::kWebp:
      return write_webp(pixels, info);
  }
  std::unreachable();
}

}  // namespace

std::expected<Prepared, Unshowable> prepare(std::span<const std::byte> bytes, const Wish& wish) {
  const auto format =
      protocol::picture_format_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!format) return std::unexpected(Unshowable{protocol::no_picture_reason()});
  TRY(std::unique_ptr<Source> source, open(*format, bytes, wish.most_pixels));

  SourceInfo info = source->info();
  if (wish.as != As::kSame) info.colour_profile.clear();  // it is in the wrapping of the source's format
  Prepared prepared;
  prepared.format = *format;
  prepared.source_width = info.width;
  prepared.source_height = info.height;
  const Size size{info.width, info.height};
  const Size scaled = fitted(size, wish.longest_side);
  prepared.width = scaled.width;
  prepared.height = scaled.height;
  if (swaps_sides(info.orientation)) std::swap(prepared.width, prepared.height);

  if (wish.as == As::kSame && scaled == size) {
    if (std::optional<Unshowable> why = decode_away(*source)) return std::unexpected(*std::move(why));
    prepared.untouched = true;
    return prepared;
  }

  TRY(Pixels pixels, decode(*source, scaled));
  source.reset();  // its memory, before the encoder takes more
  std::optional<Pixels> turned = upright(std::move(pixels), info.orientation);
  if (!turned) return std::unexpected(no_memory());
  prepared.first_frame = info.animated;
  TRY(prepared.bytes, write(wish.as, *format, *turned, info));
  return prepared;
}

}  // namespace subako::picture
