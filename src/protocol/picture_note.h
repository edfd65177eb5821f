// What stands for a picture in the text of a result (spec: R2, R4): the line beside one that is shown, the
// note for one that was meant and can't be. Always one line, whatever a guest put into a name. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/picture_format.h"

namespace subako::protocol {

struct PictureFacts {
  PictureFormat format = PictureFormat::kPng;
  uint32_t width = 0;  // as shown, in pixels
  uint32_t height = 0;
  uint32_t source_width = 0;  // as the guest stored it: a quarter turn (EXIF) changes the sides
  uint32_t source_height = 0;
  bool scaled = false;
  bool first_frame = false;  // of an animation that was scaled
  uint64_t bytes = 0;        // as shown
};

// "[picture: plot.png (volume:///tmp/plot.png), JPEG 2000 × 1000 (scaled from 3000 × 1500), 90.2 KiB]".
// `what` is ViewBlock::what, already one line; it may be empty.
[[nodiscard]] std::string picture_line(std::string_view what, const PictureFacts& facts);

// "[picture not shown: plot.png (volume:///tmp/plot.png): there is no such file]". `reason` completes it; a
// stranger's is made one line first.
[[nodiscard]] std::string picture_note(std::string_view what, std::string_view reason);

// The reasons that more than one place gives, or whose words hold a limit.
[[nodiscard]] std::string too_large_reason(uint64_t bytes);  // over limits::kPictureBytes
[[nodiscard]] std::string too_many_reason();                 // the 21st
[[nodiscard]] std::string no_picture_reason();               // its bytes begin like none

}  // namespace subako::protocol
