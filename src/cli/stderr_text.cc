#include "cli/stderr_text.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "cli/human.h"

namespace subako::cli {

namespace {

// Bytes at the end of `text` that may be the beginning of a character: at most three.
size_t unfinished(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<uint8_t>(text[text.size() - back]);
    if ((byte & 0xc0U) == 0x80U) continue;
    const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string StderrText::escaped(std::string_view piece) {
  if (!escape_) return std::string(piece);
  std::string text = std::exchange(held_, {}) + std::string(piece);
  const size_t keep = unfinished(text);
  held_ = text.substr(text.size() - keep);
  text.resize(text.size() - keep);
  return utf8::escape_for_people(text);
}

std::string StderrText::add(uint64_t left_out, std::string_view piece) {
  std::string out;
  if (left_out > 0) {
    out += utf8::escape_for_people(std::exchange(held_, {}));
    if (out.empty() ? !at_line_start_ : !out.ends_with('\n')) out += "\n";
    out += "[… " + human_bytes(left_out) + " of stderr left out: the reader was too slow …]\n";
    at_line_start_ = true;
  }
  out += escaped(piece);
  if (!out.empty()) at_line_start_ = out.ends_with('\n');
  return out;
}

std::string StderrText::finish() {
  std::string out = utf8::escape_for_people(std::exchange(held_, {}));
  if (!out.empty()) at_line_start_ = false;
  if (escape_ && !std::exchange(at_line_start_, true)) out += "\n";
  return out;
}

}  // namespace subako::cli
