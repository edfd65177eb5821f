#include "protocol/size_words.h"

#include <array>
#include <cstdio>

#include "base/limits.h"

namespace subako::protocol {

std::string size_words(uint64_t bytes) {
  if (bytes < limits::kKiB) return std::to_string(bytes) + " B";
  const bool mega = bytes >= limits::kMiB;
  std::array<char, 32> text{};
  const double units = static_cast<double>(bytes) / static_cast<double>(mega ? limits::kMiB : limits::kKiB);
  std::snprintf(text.data(), text.size(), mega ? "%.1f MiB" : "%.1f KiB", units);
  return text.data();
}

}  // namespace subako::protocol
