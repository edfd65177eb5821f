// Numbers, durations and tables as people read and write them. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace subako::cli {

[[nodiscard]] std::string human_bytes(uint64_t bytes);  // "812 B", "12.3 KiB", "1.4 MiB"
[[nodiscard]] std::string human_ms(double ms);          // "0.31 ms", "12 ms", "2.9 s"

// "500ms", "5s", "1.5s"; a plain number is seconds. Between 1 ms and limits::kMaxTimeout.
[[nodiscard]] Result<std::chrono::milliseconds> parse_timeout(std::string_view text);

// Columns that text takes on a terminal: characters of East Asia and emoji take two.
[[nodiscard]] size_t columns(std::string_view text);
// As much of `text` as fits, with "…" where it was cut. Line ends become spaces.
[[nodiscard]] std::string cut(std::string_view text, size_t most_columns);

// Rows of cells, the first being the head, each column as wide as its widest cell; the last is cut to `width`
// in all.
[[nodiscard]] std::string table(const std::vector<std::vector<std::string>>& rows, size_t width);

// The one of `words` nearest to `word`; empty where none is near.
[[nodiscard]] std::string_view nearest(std::string_view word, const std::vector<std::string_view>& words);

}  // namespace subako::cli
