// A fuzzer's input, read as numbers and pieces from its front. Past its end everything is zero and empty, so
// that a shorter input is a shorter story and not another one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace subako::fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  uint8_t byte() {
    const std::string_view one = take(1);
    return one.empty() ? uint8_t{0} : static_cast<uint8_t>(one[0]);
  }
  // Little endian, of that many bytes.
  uint64_t number(size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value |= uint64_t{byte()} << (8 * i);
    return value;
  }
  std::string_view take(size_t bytes) {
    const std::string_view piece = rest_.substr(0, std::min(bytes, rest_.size()));
    rest_.remove_prefix(piece.size());
    return piece;
  }
  // Up to the next `end`, which is passed over.
  std::string_view until(char end) {
    const std::string_view piece = rest_.substr(0, rest_.find(end));
    rest_.remove_prefix(std::min(piece.size() + 1, rest_.size()));
    return piece;
  }

 private:
  std::string_view rest_;
};

}  // namespace subako::fuzz
