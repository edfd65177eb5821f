#include "protocol/json_text.h"

namespace subako::json {

std::optional<uint32_t> hex4(std::string_view text, size_t at) {
  if (at > text.size() || text.size() - at < 4) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    const char c = text[at + i];
    uint32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<uint32_t>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<uint32_t>(c - 'A') + 10;
    } else {
      return std::nullopt;
    }
    value = value * 16 + digit;
  }
  return value;
}

size_t after_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

size_t after_value(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = after_string(text, at);
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
      continue;
    } else if (c == '}' || c == ']') {
      --depth;
      ++at;
    } else if (depth > 0) {
      ++at;
      continue;
    } else {
      constexpr std::string_view kEnds = " \t\n\r,:]}";
      const size_t end = text.find_first_of(kEnds, at);
      return end == std::string_view::npos ? text.size() : end;
    }
    if (depth == 0) return at;
  }
  return at;
}

Value value_of(std::string_view raw) {
  switch (raw.front()) {
    case '{':
      return {Kind::kObject, raw};
    case '[':
      return {Kind::kArray, raw};
    case '"':
      return {Kind::kString, raw};
    case 't':
    case 'f':
      return {Kind::kBool, raw};
    case 'n':
      return {Kind::kNull, raw};
    default:
      return {Kind::kNumber, raw};
  }
}

}  // namespace subako::json
