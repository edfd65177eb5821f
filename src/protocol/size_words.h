// Sizes as people read them, in the text that models get: "812 B", "12.3 KiB", "1.4 MiB". Pure.
#pragma once

#include <cstdint>
#include <string>

namespace subako::protocol {

[[nodiscard]] std::string size_words(uint64_t bytes);

}  // namespace subako::protocol
