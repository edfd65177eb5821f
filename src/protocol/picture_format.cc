#include "protocol/picture_format.h"

#include <array>

namespace subako::protocol {

namespace {

using namespace std::string_view_literals;

struct Row {
  std::string_view name;
  std::string_view media_type;
  std::string_view extension;
};
constexpr std::array<Row, 4> kRows = {{
    {"PNG", "image/png", "png"},
    {"JPEG", "image/jpeg", "jpg"},
    {"GIF", "image/gif", "gif"},
    {"WebP", "image/webp", "webp"},
}};

const Row& row_of(PictureFormat format) {
  return kRows.at(static_cast<size_t>(format));
}

}  // namespace

std::optional<PictureFormat> picture_format_of(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv)) return PictureFormat::kPng;
  if (bytes.starts_with("\xff\xd8\xff"sv)) return PictureFormat::kJpeg;
  if (bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv)) return PictureFormat::kGif;
  // RIFF, the length, then what the RIFF holds.
  if (bytes.starts_with("RIFF"sv) && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP"sv) return PictureFormat::kWebp;
  return std::nullopt;
}

std::string_view picture_media_type(PictureFormat format) {
  return row_of(format).media_type;
}
std::string_view picture_name(PictureFormat format) {
  return row_of(format).name;
}
std::string_view picture_extension(PictureFormat format) {
  return row_of(format).extension;
}

}  // namespace subako::protocol
