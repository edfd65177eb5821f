#include "protocol/json_text.h"

#include <cstring>

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

size_t after_plain(std::string_view text, size_t at) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighBits = 0x8080808080808080;
  // A set high bit for each byte below `limit` (at most 0x80): exact up to the first, which is all that counts.
  const auto below = [](uint64_t word, uint64_t limit) { return (word - kOnes * limit) & ~word & kHighBits; };
  for (uint64_t word = 0; text.size() - at >= sizeof word; at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((below(word, 0x20) | below(word ^ (kOnes * '"'), 1) | below(word ^ (kOnes * '\\'), 1)) != 0) break;
  }
  const auto is_plain = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; };
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}

size_t after_string(std::string_view text, size_t at) {
  for (++at; at < text.size(); at += 2) {
    at = after_plain(text, at);
    if (at >= text.size() || text[at] == '"') break;
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
