// A picture's bytes, as a guest made them, to bytes that are fit to be shown to models and people (spec: R2,
// R4, R5).
//
// Pure: no files, no clock, no globals. It runs in a builder, sandboxed and under limits::kPictureCpu and
// limits::kPictureMemoryBytes, and may take that process down with it: the libraries beneath read strangers'
// bytes.
//
// Every picture is decoded to its end, even one that goes through untouched: what is cut off or damaged is
// told, not shown. Of an animation the first frame is decoded; the others are only walked, block by block.
// Rows go from the decoder to the scaler one by one, so a picture costs little more memory than what comes
// out of it; only interlaced PNG (4 bytes a pixel), progressive JPEG (2 bytes a sample), GIF (1 byte a pixel,
// where interlaced) and WebP (8 to 9 bytes a pixel) are held whole.
//
// Colours are scaled as they are stored. An ICC profile of up to 64 KiB goes along where the format stays the
// same; where it doesn't, and for CMYK, colours are taken as sRGB. PNG's gAMA and cHRM are not looked at, as
// most viewers don't.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "protocol/picture_format.h"

namespace subako::picture {

enum class As : uint8_t {
  kSame,   // R4: untouched where small enough, else scaled and written in its own format
  kPng,    // always a PNG of our own writing, turned and scaled to fit: for terminals that show nothing else
           // (kitty)
  kSixel,  // DEC sixel text, turned and scaled to fit: for terminals that show only that
};

struct Wish {
  As as = As::kSame;
  uint32_t longest_side = limits::kPictureSide;  // nothing is ever enlarged
  uint64_t most_pixels =
      limits::kPicturePixels;  // of the source; checked before anything is allocated by its size
};

struct Prepared {
  protocol::PictureFormat format = protocol::PictureFormat::kPng;  // of the source, by its bytes (R4)
  uint32_t source_width = 0;  // pixels as stored in the file, before turning; of an animation, its canvas
  uint32_t source_height = 0;
  uint32_t width = 0;  // as shown: of `bytes`, or of the source after its EXIF turn where it is untouched
  uint32_t height = 0;
  bool untouched = false;    // `bytes` is empty: the source is to be shown as it is. Only with As::kSame
  bool first_frame = false;  // an animation of which only the first frame is in `bytes`
  std::vector<std::byte> bytes;
};

// What a guest does is data, not an Error. `reason` completes a note: one plain clause for a model and people
// ("it is cut off or damaged (…)"), without a full stop; what it quotes of the file is escaped and short.
struct Unshowable {
  std::string reason;
};

[[nodiscard]] std::expected<Prepared, Unshowable> prepare(std::span<const std::byte> bytes, const Wish& wish);

}  // namespace subako::picture
