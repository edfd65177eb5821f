#include "base/random.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace subako {

void fill_random(std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t n = getrandom(out.data(), out.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) std::abort();
    out = out.subspan(static_cast<size_t>(n));
  }
}

std::string random_id(std::string_view prefix) {
  std::array<std::byte, 16> bytes{};
  fill_random(bytes);
  std::string id(prefix);
  id += '-';
  for (const std::byte b : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    id += kDigits[static_cast<uint8_t>(b) >> 4U];
    id += kDigits[static_cast<uint8_t>(b) & 15U];
  }
  return id;
}

}  // namespace subako
