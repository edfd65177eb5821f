// What /proc and the control groups say of themselves: small files of text, a name and a value in each line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace subako {

// The first 64 KiB: what is asked of such a file stands there. None where it can't be read.
[[nodiscard]] std::optional<std::string> proc_text(const std::string& path);

// What follows "name" or "name :" at the beginning of a line; none where no line begins so.
[[nodiscard]] std::optional<std::string_view> line_value(std::string_view text, std::string_view name);
// That value's number. "max", or nothing, is none. Likewise the number that a text begins with.
[[nodiscard]] std::optional<uint64_t> line_number(std::string_view text, std::string_view name);
[[nodiscard]] std::optional<uint64_t> leading_number(std::string_view text);

}  // namespace subako
