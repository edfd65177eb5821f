#include "protocol/picture_note.h"

#include "base/limits.h"
#include "base/quote.h"
#include "protocol/size_words.h"

namespace subako::protocol {

namespace {

std::string pixels(uint32_t width, uint32_t height) {
  return std::to_string(width) + " × " + std::to_string(height);
}

}  // namespace

std::string picture_line(std::string_view what, const PictureFacts& facts) {
  std::string text = "[picture: ";
  if (!what.empty()) text.append(what).append(", ");
  text.append(picture_name(facts.format)).append(" ").append(pixels(facts.width, facts.height));
  const bool was_wide = facts.source_width > facts.source_height;
  const bool was_tall = facts.source_width < facts.source_height;
  const bool turned = facts.width > facts.height ? was_tall : facts.width < facts.height && was_wide;
  if (facts.scaled) {
    text += std::string(turned ? " (turned and scaled from " : " (scaled from ") +
            pixels(facts.source_width, facts.source_height) + ")";
  }
  if (facts.first_frame) text += ", first frame of an animation";
  return text + ", " + size_words(facts.bytes) + "]";
}

std::string picture_note(std::string_view what, std::string_view reason) {
  std::string text = "[picture not shown: ";
  if (!what.empty()) text.append(what).append(": ");
  return text.append(reason) + "]";
}

std::string too_large_reason(uint64_t bytes) {
  // In bytes: "10.0 MiB, and a picture may be 10 MiB" says nothing.
  return "it has " + grouped(bytes) + " bytes, and a picture may have " + grouped(limits::kPictureBytes) +
         " (" + std::to_string(limits::kPictureBytes / limits::kMiB) + " MiB)";
}

std::string too_many_reason() {
  return "only the first " + std::to_string(limits::kPictures) + " pictures of a result are shown";
}

std::string no_picture_reason() {
  return "its bytes are no PNG, JPEG, GIF or WebP";
}

}  // namespace subako::protocol
