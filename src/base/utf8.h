// UTF-8 as the documents need it: is it valid, how many characters, make it valid, make it safe to look at.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace subako::utf8 {

// Offset of the first byte that is not part of well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms, at most
// U+10FFFF), or npos where all of it is.
[[nodiscard]] size_t first_bad_byte(std::string_view text);
[[nodiscard]] inline bool valid(std::string_view text) {
  return first_bad_byte(text) == std::string_view::npos;
}

// Unicode scalar values in valid UTF-8.
[[nodiscard]] size_t count(std::string_view valid_text);

// Every maximal invalid part becomes one U+FFFD (the WHATWG and Rust `from_utf8_lossy` way).
[[nodiscard]] std::string lossy(std::string_view bytes);

// The last `max_bytes` bytes, begun at a character's boundary (spec: C9's 4 KiB of stderr).
[[nodiscard]] std::string_view tail(std::string_view bytes, size_t max_bytes);

// For a terminal or a log that people look at: control characters but \n and \t (C0, DEL, C1), invalid bytes,
// and characters that reorder text (U+202A–202E, U+2066–2069, U+200E, U+200F, U+061C) are written as visible escapes
// (\x1b, \u{202e}). What is left can't move the cursor or change colours.
[[nodiscard]] std::string escape_for_people(std::string_view bytes);

}  // namespace subako::utf8
