#include "builder/picture.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/write_all.h"
#include "picture/picture.h"
#include "protocol/picture_note.h"

namespace subako::builder {

namespace {

// At most one byte more than a picture may have.
Result<std::vector<std::byte>> read_source(int file) {
  std::vector<std::byte> bytes(limits::kPictureBytes + 1);
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t n = pread(file, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(system_error("reading the file", errno));
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  bytes.resize(have);
  return bytes;
}

child::FromBuilder unshowable(std::string reason) {
  child::FromBuilder message;
  message.mutable_unshowable()->set_reason(std::move(reason));
  return message;
}

Result<picture::As> as_of(child::Picture::As as) {
  switch (as) {
    case child::Picture::SAME:
      return picture::As::kSame;
    case child::Picture::PNG:
      return picture::As::kPng;
    case child::Picture::SIXEL:
      return picture::As::kSixel;
    default:
      return fail(Code::kInternal, "core wishes for a kind of picture that this builder doesn't know");
  }
}

child::Pictured::Format wire_format(protocol::PictureFormat format) {
  switch (format) {
    case protocol::PictureFormat::kPng:
      return child::Pictured::PNG;
    case protocol::PictureFormat::kJpeg:
      return child::Pictured::JPEG;
    case protocol::PictureFormat::kGif:
      return child::Pictured::GIF;
    case protocol::PictureFormat::kWebp:
      return child::Pictured::WEBP;
  }
  return child::Pictured::PNG;
}

}  // namespace

Result<child::FromBuilder> picture(Fd source, Fd out, const child::Picture& wish) {
  TRY(const picture::As as, as_of(wish.as()));
  TRY(const std::vector<std::byte> bytes, read_source(source.get()));
  if (bytes.size() > limits::kPictureBytes) return unshowable(protocol::too_large_reason(bytes.size()));
  const auto prepared = picture::prepare(bytes, {.as = as, .longest_side = wish.longest_side()});
  if (!prepared) return unshowable(prepared.error().reason);
  const std::span<const std::byte> shown(prepared->untouched ? bytes : prepared->bytes);
  TRY_VOID(write_all(out.get(), {reinterpret_cast<const char*>(shown.data()), shown.size()},
                     "writing the picture"));
  child::FromBuilder message;
  child::Pictured& pictured = *message.mutable_pictured();
  pictured.set_format(
      wire_format(as == picture::As::kPng ? protocol::PictureFormat::kPng : prepared->format));
  pictured.set_source_width(prepared->source_width);
  pictured.set_source_height(prepared->source_height);
  pictured.set_width(prepared->width);
  pictured.set_height(prepared->height);
  pictured.set_untouched(prepared->untouched);
  pictured.set_first_frame(prepared->first_frame);
  pictured.set_bytes(shown.size());
  return message;
}

}  // namespace subako::builder
