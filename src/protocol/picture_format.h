// The four kinds of pictures that people and models are shown (spec: R2, R4). The kind is what the first bytes say, whatever a
// file's name or a block's mimeType claims. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace subako::protocol {

enum class PictureFormat : uint8_t { kPng, kJpeg, kGif, kWebp };

// By the signature alone: what comes after it may be anything. None: it begins like no picture.
[[nodiscard]] std::optional<PictureFormat> picture_format_of(std::string_view bytes);

[[nodiscard]] std::string_view picture_media_type(PictureFormat format);  // "image/png"
[[nodiscard]] std::string_view picture_name(PictureFormat format);        // "PNG"
[[nodiscard]] std::string_view picture_extension(PictureFormat format);   // "png", for a file's name

}  // namespace subako::protocol
