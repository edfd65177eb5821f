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

std::string Ids::next(std::string_view prefix) {
  constexpr size_t kBytes = 16;
  if (left_ < kBytes) {
    fill_random(stock_);
    left_ = stock_.size();
  }
  const std::span<std::byte> bytes = std::span(stock_).last(left_).first(kBytes);
  left_ -= kBytes;
  std::string id;
  id.reserve(prefix.size() + 1 + 2 * kBytes);
  id += prefix;
  id += '-';
  for (std::byte& b : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    id += kDigits[static_cast<uint8_t>(b) >> 4U];
    id += kDigits[static_cast<uint8_t>(b) & 15U];
    b = {};  // said once
  }
  return id;
}

}  // namespace subako
