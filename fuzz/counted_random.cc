// In place of base/random.cc: bytes that are the same in every run, so that a finding can be had again.
#include <cstdint>

#include "base/random.h"

namespace subako {

void fill_random(std::span<std::byte> out) {
  uint8_t next = 1;
  for (std::byte& byte : out) byte = static_cast<std::byte>(next++);
}

std::string Ids::next(std::string_view prefix) {
  return std::string(prefix) + "-" + std::to_string(left_++ % stock_.size());
}

}  // namespace subako
