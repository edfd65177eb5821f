// Pictures of a result as they are shown (spec: R2, R4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/limits.h"
#include "base/result.h"
#include "protocol/call_result.h"
#include "protocol/picture_format.h"

namespace subako::core {

struct PictureWish {
  enum class As : uint8_t { kSame, kPng, kSixel };
  As as = As::kSame;
  uint32_t longest_side = limits::kPictureSide;  // 1 to limits::kPictureSide
};

struct ShownPicture {
  protocol::PictureFormat format =
      protocol::PictureFormat::kPng;  // of `bytes`; says nothing where sixel was wished
  uint32_t width = 0;                 // as it is seen, EXIF's turn included
  uint32_t height = 0;
  uint32_t source_width = 0;  // as the guest stored it
  uint32_t source_height = 0;
  bool untouched = false;    // the guest's own bytes
  bool first_frame = false;  // of an animation
  uint64_t size = 0;         // bytes, at most limits::kPictureBytes
  Fd bytes;                  // a sealed memfd
};
[[nodiscard]] Result<std::string> bytes_of(const ShownPicture& picture);

struct SeeOptions {
  // False, for a model that reads text alone: the text of each picture is a note that says so. People see it.
  bool reads_images = true;
};

// A block of what the model gets, with the picture that goes with its line.
struct SeenBlock {
  protocol::ViewBlock block;
  std::optional<ShownPicture> picture;  // of each kPicture, and of the notes of SeeOptions::reads_images
};

}  // namespace subako::core
