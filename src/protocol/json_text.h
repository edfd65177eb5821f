// What the scanner, the views and the copies of JSON share: white space, escapes, and the end of a value that
// is known to be valid. Private to this room. Offsets and lengths are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/json.h"

namespace subako::json {

[[nodiscard]] inline bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
[[nodiscard]] inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

[[nodiscard]] inline size_t after_space(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

[[nodiscard]] inline bool is_surrogate(uint32_t unit) {
  return unit >= 0xd800 && unit <= 0xdfff;
}
[[nodiscard]] inline bool is_high_surrogate(uint32_t unit) {
  return unit >= 0xd800 && unit <= 0xdbff;
}
[[nodiscard]] inline bool is_low_surrogate(uint32_t unit) {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

// The four hexadecimal digits at `at`; none where they aren't all there.
[[nodiscard]] std::optional<uint32_t> hex4(std::string_view text, size_t at);

// The offset of the first byte at or after `at` that is no plain byte of a string: a quote, a backslash or a
// control character; the size where there is none. Eight bytes at a time: strings are most of a large text.
[[nodiscard]] size_t after_plain(std::string_view text, size_t at);

// The offset after the string whose opening quote is at `at`, in valid text.
[[nodiscard]] size_t after_string(std::string_view text, size_t at);
// The offset after the value that begins at `at`, in valid text: one look at each byte, whatever the nesting.
[[nodiscard]] size_t after_value(std::string_view text, size_t at);

// A view of a whole valid value: its first byte tells the kind.
[[nodiscard]] Value value_of(std::string_view raw);

// As for_each_member(), with each name as it was spelt, quotes included.
template <class Each>
void for_each_raw_member(const Value& object, const Each& each) {
  const std::string_view text = object.raw();
  if (!object.is(Kind::kObject)) return;
  size_t at = after_space(text, 1);
  while (at < text.size() && text[at] != '}') {
    const size_t name_end = after_string(text, at);
    const std::string_view raw_name = text.substr(at, name_end - at);
    at = after_space(text, after_space(text, name_end) + 1);
    const size_t end = after_value(text, at);
    if (!each(raw_name, value_of(text.substr(at, end - at)))) return;
    at = after_space(text, end);
    if (at < text.size() && text[at] == ',') at = after_space(text, at + 1);
  }
}

}  // namespace subako::json
