#include "cli/inline_pictures.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "protocol/base64.h"

namespace subako::cli {

namespace {

constexpr uint32_t kUnknownPixels = 800;  // taken for a terminal that doesn't tell its width in pixels
constexpr size_t kKittyPiece = 4096;      // of base64 in one sequence, by its specification
constexpr uint64_t kKonsoleWithPictures = 220400;

uint64_t number(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string kitty(const core::ShownPicture& picture, std::string_view png, TerminalSize size) {
  const std::string base64 = protocol::encode_base64(png);
  std::string out;
  for (size_t at = 0; at < base64.size(); at += kKittyPiece) {
    const bool more = at + kKittyPiece < base64.size();
    out += "\x1b_G";
    if (at == 0) {
      out += "a=T,f=100,q=2,";
      const bool wide = picture.width > (size.pixels > 0 ? size.pixels : kUnknownPixels);
      if (wide && size.columns > 0) out += "c=" + std::to_string(size.columns) + ",";
    }
    out += more ? "m=1;" : "m=0;";
    out += std::string_view(base64).substr(at, kKittyPiece);
    out += kEndOfSequence;
  }
  return out;
}

// The parameters of the answer `ESC [ ? ... c`; none where there is none yet.
std::optional<std::string_view> answer_in(std::string_view text) {
  constexpr std::string_view kBegin = "\x1b[?";
  for (size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at + 1)) {
    const std::string_view rest = text.substr(at + kBegin.size());
    const size_t end = rest.find_first_not_of("0123456789;");
    if (end != std::string_view::npos && rest[end] == 'c') return rest.substr(0, end);
  }
  return std::nullopt;
}

std::string iterm2(std::string_view bytes) {
  return "\x1b]1337;File=inline=1;size=" + std::to_string(bytes.size()) +
         ";preserveAspectRatio=1:" + protocol::encode_base64(bytes) + "\x07";
}

}  // namespace

std::optional<InlinePictures> inline_pictures_by_name(std::string_view word) {
  if (word == "never") return InlinePictures::kNever;
  if (word == "kitty") return InlinePictures::kKitty;
  if (word == "iterm2") return InlinePictures::kIterm2;
  if (word == "sixel") return InlinePictures::kSixel;
  return std::nullopt;
}

std::optional<InlinePictures> inline_pictures_by_environment(const Environment& environment) {
  const std::string_view term = environment("TERM");
  const std::string_view program = environment("TERM_PROGRAM");
  if (term.empty() || term == "dumb" || term == "linux") return InlinePictures::kNever;
  if (term.starts_with("screen") || term.starts_with("tmux") || !environment("TMUX").empty() ||
      !environment("STY").empty() || !environment("ZELLIJ").empty()) {
    return InlinePictures::kNever;
  }
  if (term == "xterm-kitty" || term == "xterm-ghostty") return InlinePictures::kKitty;
  if (program == "ghostty") return InlinePictures::kKitty;
  constexpr std::array<std::string_view, 3> kSpeakIterm2 = {"iTerm.app", "WezTerm", "mintty"};
  if (std::ranges::find(kSpeakIterm2, program) != kSpeakIterm2.end()) return InlinePictures::kIterm2;
  if (const std::string_view lc = environment("LC_TERMINAL"); program.empty() && lc == "iTerm2")
    return InlinePictures::kIterm2;
  // Variables that a program started from such a terminal would inherit, even where it is a terminal itself.
  if (!program.empty()) return std::nullopt;
  if (!environment("KITTY_WINDOW_ID").empty()) return InlinePictures::kKitty;
  if (number(environment("KONSOLE_VERSION")) >= kKonsoleWithPictures) return InlinePictures::kKitty;
  return std::nullopt;
}

bool answer_is_whole(std::string_view answer) {
  return answer_in(answer).has_value();
}

bool answer_names_sixel(std::string_view answer) {
  const auto parameters = answer_in(answer);
  return parameters && (";" + std::string(*parameters) + ";").contains(";4;");
}

std::optional<core::PictureWish> wish_for(InlinePictures how, const core::ShownPicture& picture,
                                          TerminalSize size) {
  using As = core::PictureWish::As;
  using protocol::PictureFormat;
  As as = As::kPng;
  switch (how) {
    case InlinePictures::kNever:
      return std::nullopt;
    case InlinePictures::kKitty:
      if (picture.format == PictureFormat::kPng) return std::nullopt;
      break;
    case InlinePictures::kIterm2:
      // mintty and older systems know no WebP.
      if (picture.format != PictureFormat::kWebp) return std::nullopt;
      break;
    case InlinePictures::kSixel:
      as = As::kSixel;
      break;
  }
  const uint64_t most =
      std::clamp<uint64_t>(size.pixels > 0 ? size.pixels : kUnknownPixels, 1, limits::kPictureSide);
  uint64_t longest = std::max(picture.width, picture.height);
  if (picture.width > most) longest = longest * most / picture.width;
  return core::PictureWish{
      .as = as,
      .longest_side = static_cast<uint32_t>(std::clamp<uint64_t>(longest, 1, limits::kPictureSide))};
}

std::string drawing(InlinePictures how, const core::ShownPicture& picture, std::string_view bytes,
                    TerminalSize size) {
  switch (how) {
    case InlinePictures::kNever:
      break;
    case InlinePictures::kKitty:
      return kitty(picture, bytes, size) + "\n";
    case InlinePictures::kIterm2:
      return iterm2(bytes) + "\n";
    case InlinePictures::kSixel:
      return std::string(bytes) + "\n";  // as core has checked: sixel and nothing else
  }
  return "";
}

}  // namespace subako::cli
