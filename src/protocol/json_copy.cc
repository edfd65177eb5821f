// JSON out of JSON and text: compact copies, quoted strings.
#include <array>
#include <cstdio>

#include "protocol/json.h"
#include "protocol/json_text.h"

namespace subako::json {

namespace {

// Calls `token` with each run of bytes between which there is white space.
template <class Token>
void each_token(std::string_view raw, const Token& token) {
  size_t at = 0;
  while (at < raw.size()) {
    if (is_space(raw[at])) {
      at = after_space(raw, at);
      continue;
    }
    const size_t begin = at;
    while (at < raw.size() && !is_space(raw[at])) at = raw[at] == '"' ? after_string(raw, at) : at + 1;
    token(raw.substr(begin, at - begin));
  }
}

}  // namespace

std::string compact(const Value& value) {
  std::string out;
  out.reserve(value.raw().size());
  each_token(value.raw(), [&](std::string_view run) { out += run; });
  return out;
}

size_t compact_size(const Value& value) {
  size_t size = 0;
  each_token(value.raw(), [&](std::string_view run) { size += run.size(); });
  return size;
}

void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view kMeant = "\"\\\b\f\n\r\t";
  constexpr std::string_view kNames = "\"\\bfnrt";
  out += '"';
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t next = after_plain(text, at);
    out += text.substr(at, next - at);
    if (next == text.size()) break;
    at = next;
    const char c = text[at];
    if (const size_t simple = kMeant.find(c); simple != std::string_view::npos) {
      out += '\\';
      out += kNames[simple];
    } else {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escape.data();
    }
  }
  out += '"';
}

std::string quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_quoted(out, text);
  return out;
}

}  // namespace subako::json
