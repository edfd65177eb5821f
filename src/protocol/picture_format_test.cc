#include "protocol/picture_format.h"

#include <gtest/gtest.h>

namespace subako::protocol {

namespace {

using namespace std::string_view_literals;

struct Case {
  std::string_view bytes;
  std::optional<PictureFormat> format;
};

// spec: R4
TEST(PictureFormat, IsWhatTheBytesSay) {
  constexpr Case kCases[] = {
      {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv, PictureFormat::kPng},
      {"\x89PNG\r\n\x1a\n"sv, PictureFormat::kPng},
      {"\x89PNG\n\x1a\n"sv, std::nullopt},  // damaged by a text transfer
      {"\x89PNG\r\n\x1a"sv, std::nullopt},
      {"\xff\xd8\xff\xe0"sv, PictureFormat::kJpeg},
      {"\xff\xd8"sv, std::nullopt},
      {"GIF87a"sv, PictureFormat::kGif},
      {"GIF89a..."sv, PictureFormat::kGif},
      {"GIF90a"sv, std::nullopt},
      {"RIFF\x10\0\0\0WEBPVP8 "sv, PictureFormat::kWebp},
      {"RIFF\x10\0\0\0WEB"sv, std::nullopt},
      {"RIFF\x10\0\0\0WAVEfmt "sv, std::nullopt},
      {"BM\0\0"sv, std::nullopt},
      {"<svg xmlns"sv, std::nullopt},
      {""sv, std::nullopt},
  };
  for (const Case& one : kCases) EXPECT_EQ(picture_format_of(one.bytes), one.format) << one.bytes;
}

TEST(PictureFormat, HasAMediaTypeAndAnExtension) {
  EXPECT_EQ(picture_media_type(PictureFormat::kPng), "image/png");
  EXPECT_EQ(picture_media_type(PictureFormat::kJpeg), "image/jpeg");
  EXPECT_EQ(picture_media_type(PictureFormat::kGif), "image/gif");
  EXPECT_EQ(picture_media_type(PictureFormat::kWebp), "image/webp");
  EXPECT_EQ(picture_extension(PictureFormat::kJpeg), "jpg");
  EXPECT_EQ(picture_name(PictureFormat::kWebp), "WebP");
}

}  // namespace

}  // namespace subako::protocol
