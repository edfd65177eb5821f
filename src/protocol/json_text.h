// What the scanner, the views and the copies of JSON share: white space, escapes, and the end of a value that
// is known to be valid. Private to this room. Offsets and lengths are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

// The offset after the string whose opening quote is at `at`, in valid text.
[[nodiscard]] size_t after_string(std::string_view text, size_t at);
// The offset after the value that begins at `at`, in valid text: one look at each byte, whatever the nesting.
[[nodiscard]] size_t after_value(std::string_view text, size_t at);

// As for_each_member(), with each name as it was spelt, quotes included.
void for_each_raw_member(const Value& object,
                         const std::function<bool(std::string_view, const Value&)>& each);

// A view of a whole valid value: its first byte tells the kind.
[[nodiscard]] Value value_of(std::string_view raw);

}  // namespace subako::json
