// The blocks of a GIF after its first frame, walked without being decoded: are there more frames, and does
// the file end as it should? Its cost grows with the file alone.
#pragma once

#include <cstddef>
#include <span>

namespace subako::picture {

struct GifRest {
  bool more_frames = false;
  bool whole = false;  // all blocks are complete, and the last one is the trailer
};

// `blocks` begins after the data of a frame.
[[nodiscard]] GifRest gif_rest(std::span<const std::byte> blocks);

}  // namespace subako::picture
