// Foreign text within a sentence of ours: shortened, on one line, and with nothing in it that could move a
// cursor, change colours or reorder what people read (spec: C9, U4).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/limits.h"

namespace subako {

// The first `max_bytes` bytes, ended at a character's boundary.
[[nodiscard]] std::string_view head(std::string_view bytes, size_t max_bytes);

// All of it; line feeds and tabs become \n and \t, the rest is as utf8::escape_for_people has it.
[[nodiscard]] std::string one_line(std::string_view bytes);

// As one_line, of at most kQuotedBytes of the text; an ellipsis tells that more follows.
[[nodiscard]] std::string shortened(std::string_view bytes, size_t max_bytes = limits::kQuotedBytes);

// shortened(), in double quotes.
[[nodiscard]] std::string in_quotes(std::string_view bytes, size_t max_bytes = limits::kQuotedBytes);

// 1234567 as "1,234,567".
[[nodiscard]] std::string grouped(size_t number);

}  // namespace subako
