// Where a block's picture lies, opened for a builder to read (spec: R2-R4); private to core. Called after the
// guest has exited. The error completes a note: why there is no picture to be shown.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "core/call.h"

namespace subako::core {

using PictureSource = std::expected<Fd, std::string>;

// A memfd with what `base64` holds.
[[nodiscard]] PictureSource picture_in_base64(std::string_view base64);

// `path` as protocol::volume_path makes it. Beneath its own tree alone: a link out of it is not followed.
// Never waits: what is no regular file is not read.
[[nodiscard]] PictureSource picture_in_volume(std::string_view path, const Trees& trees);

}  // namespace subako::core
