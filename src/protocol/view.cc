// What the model gets of a result (spec: R2). Every line made here is one line, whatever a guest put into a
// name.
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/quote.h"
#include "protocol/call_result.h"
#include "protocol/size_words.h"

namespace subako::protocol {

namespace {

using json::Kind;
using json::Value;
using BlockKind = ViewBlock::Kind;

ViewBlock note(std::string text) {
  return {.kind = BlockKind::kNote, .text = "[" + std::move(text) + "]"};
}

ViewBlock broken(std::string_view type, std::string_view why) {
  return note("a block of type " + in_quotes(type) + " is broken: " + std::string(why));
}

std::optional<std::string> string_member(const Value& block, std::string_view name) {
  const auto member = json::find(block, name);
  if (!member || !member->is(Kind::kString)) return std::nullopt;
  return json::decode_string(*member);
}

// What `base64` decodes to, by its length: padding and white space hold nothing.
size_t decoded_size(std::string_view base64) {
  const auto digits =
      std::ranges::count_if(base64, [](char c) { return static_cast<uint8_t>(c) > 0x20 && c != '='; });
  return static_cast<size_t>(digits) * 3 / 4;
}

bool begins_with_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  return std::ranges::equal(text.substr(0, lower.size()), lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

bool names_a_picture(std::string_view path, const std::optional<std::string>& mime_type) {
  if (mime_type && begins_with_ignoring_case(*mime_type, "image/")) return true;
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view extension = path.substr(dot);
  constexpr std::array<std::string_view, 5> kExtensions = {".png", ".jpg", ".jpeg", ".gif", ".webp"};
  return std::ranges::any_of(kExtensions, [&](std::string_view one) {
    return extension.size() == one.size() && begins_with_ignoring_case(extension, one);
  });
}

ViewBlock view_text(const Value& block) {
  std::optional<std::string> text = string_member(block, "text");
  if (!text) return broken("text", "it has no \"text\" string");
  return {.kind = BlockKind::kText, .text = *std::move(text)};
}

ViewBlock view_image(const Value& block) {
  std::optional<std::string> data = string_member(block, "data");
  if (!data) return broken("image", "it has no \"data\" string");
  std::string words = size_words(decoded_size(*data));
  std::string what;
  if (const auto type = string_member(block, "mimeType")) {
    what = "inline " + shortened(*type);
    words = shortened(*type) + ", " + words;
  }
  return {.kind = BlockKind::kPicture,
          .text = "[picture: " + words + "]",
          .base64 = std::move(data),
          .what = std::move(what)};
}

ViewBlock view_link(const Value& block, bool data_enabled) {
  const std::optional<std::string> uri = string_member(block, "uri");
  if (!uri || uri->empty()) return broken("resource_link", "it has no \"uri\" string that names something");
  // The URI is what a model needs to use the link: it is never shortened.
  std::string words = one_line(*uri);
  if (const auto name = string_member(block, "name"); name && !name->empty())
    words = shortened(*name) + " (" + words + ")";
  std::optional<std::string> path = volume_path(*uri, data_enabled);
  const bool meant = path && names_a_picture(*path, string_member(block, "mimeType"));
  return {.kind = meant ? BlockKind::kPicture : BlockKind::kLink,
          .text = (meant ? "[picture: " : "[link: ") + words + "]",
          .path = std::move(path),
          .what = std::move(words)};
}

ViewBlock view_block(const std::string& raw, bool data_enabled) {
  const auto block = json::parse(raw);
  if (!block || !block->is(Kind::kObject)) return note("a broken block was left out: it is no object");
  const std::optional<std::string> type = string_member(*block, "type");
  if (!type) return note("a broken block was left out: it has no \"type\" string");
  if (*type == "text") return view_text(*block);
  if (*type == "image") return view_image(*block);
  if (*type == "resource_link") return view_link(*block, data_enabled);
  return note("a block of type " + in_quotes(*type) + " was left out");
}

}  // namespace

std::string_view view_kind_name(BlockKind kind) {
  switch (kind) {
    case BlockKind::kText:
      return "text";
    case BlockKind::kPicture:
      return "picture";
    case BlockKind::kLink:
      return "link";
    case BlockKind::kNote:
      return "note";
  }
  return "note";
}

std::vector<ViewBlock> view_of(const CallResult& result, bool data_enabled) {
  std::vector<ViewBlock> view;
  // A note may be longer than the block that it is about (`0,`): their number is bounded, that of other
  // blocks isn't.
  size_t notes = 0;
  for (const std::string& raw : result.content) {
    ViewBlock block = view_block(raw, data_enabled);
    if (block.kind == BlockKind::kNote && ++notes > limits::kResultNotes) continue;
    view.push_back(std::move(block));
  }
  if (notes > limits::kResultNotes) {
    view.push_back(note(grouped(notes - limits::kResultNotes) + " more blocks were left out"));
  }
  return view;
}

}  // namespace subako::protocol
