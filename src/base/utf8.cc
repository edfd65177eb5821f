#include "base/utf8.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace subako::utf8 {

namespace {

struct Decoded {
  uint32_t scalar = 0;
  size_t bytes = 0;   // taken; of an invalid sequence, its maximal valid beginning (at least 1)
  bool valid = false;
};

// One scalar value at the front of a non-empty `text`, by table 3-7 of the Unicode standard.
Decoded decode(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = at(0);
  if (lead < 0x80) return {lead, 1, true};
  size_t length = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return {0, 1, false};
  }
  uint32_t scalar = lead & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || at(i) < low || at(i) > high) return {0, i, false};
    scalar = (scalar << 6) | (at(i) & 0x3fU);
    low = 0x80;
    high = 0xbf;
  }
  return {scalar, length, true};
}

bool reorders_text(uint32_t c) {
  return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f ||
         c == 0x061c;
}

bool is_control(uint32_t c) {
  return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029;
}

void append_escape(std::string& out, const char* format, uint32_t value) {
  std::array<char, 16> buffer{};
  const int n = std::snprintf(buffer.data(), buffer.size(), format, value);
  out.append(buffer.data(), static_cast<size_t>(n));
}

// The offset after the ASCII that begins at `at`, eight bytes at a time: most text is nothing else.
size_t after_ascii(std::string_view text, size_t at) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  for (uint64_t word = 0; text.size() - at >= sizeof word; at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

size_t first_bad_byte(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    at = after_ascii(text, at);
    if (at == text.size()) break;
    const Decoded d = decode(text.substr(at));
    if (!d.valid) return at;
    at += d.bytes;
  }
  return std::string_view::npos;
}

size_t count(std::string_view valid_text) {
  size_t n = 0;
  for (const char c : valid_text) n += (static_cast<uint8_t>(c) & 0xc0U) != 0x80U;
  return n;
}

std::string lossy(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const Decoded d = decode(bytes.substr(at));
    if (d.valid) {
      out.append(bytes.substr(at, d.bytes));
    } else {
      out += "\xef\xbf\xbd";
    }
    at += d.bytes;
  }
  return out;
}

std::string_view tail(std::string_view bytes, size_t max_bytes) {
  if (bytes.size() <= max_bytes) return bytes;
  bytes.remove_prefix(bytes.size() - max_bytes);
  size_t skip = 0;
  while (skip < 3 && skip < bytes.size() && (static_cast<uint8_t>(bytes[skip]) & 0xc0U) == 0x80U) ++skip;
  return bytes.substr(skip);
}

std::string escape_for_people(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const Decoded d = decode(bytes.substr(at));
    if (!d.valid) {
      for (size_t i = 0; i < d.bytes; ++i) append_escape(out, "\\x%02x", static_cast<uint8_t>(bytes[at + i]));
    } else if (is_control(d.scalar) || reorders_text(d.scalar)) {
      append_escape(out, d.scalar < 0x80 ? "\\x%02x" : "\\u{%x}", d.scalar);
    } else {
      out.append(bytes.substr(at, d.bytes));
    }
    at += d.bytes;
  }
  return out;
}

}  // namespace subako::utf8
