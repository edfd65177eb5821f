#include "protocol/base64.h"

#include <algorithm>
#include <array>

namespace subako::protocol {

namespace {

constexpr uint8_t kNoDigit = 0xff;
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<uint8_t, 256> digit_values() {
  std::array<uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (size_t i = 0; i < kDigits.size(); ++i)
    values.at(static_cast<uint8_t>(kDigits[i])) = static_cast<uint8_t>(i);
  return values;
}
constexpr std::array<uint8_t, 256> kValues = digit_values();

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

}  // namespace

std::expected<std::string, Base64Fault> decode_base64(std::string_view text, size_t max_bytes) {
  std::string out;
  out.reserve(std::min(text.size() / 4 * 3 + 3, max_bytes));
  uint32_t bits = 0;  // of the last digits, the newest lowest
  size_t digits = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (is_space(c)) continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const uint8_t value = kValues.at(static_cast<uint8_t>(c));
    if (value == kNoDigit || padding > 0) return std::unexpected(Base64Fault::kNoBase64);
    bits = bits << 6U | value;
    // From the second digit of four on, each one completes a byte.
    const size_t place = digits++ % 4;
    if (place == 0) continue;
    if (out.size() == max_bytes) return std::unexpected(Base64Fault::kTooLarge);
    out += static_cast<char>(static_cast<uint8_t>(bits >> (6 - 2 * place)));
  }
  if (digits % 4 == 1 || padding > 2) return std::unexpected(Base64Fault::kNoBase64);
  return out;
}

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  while (!bytes.empty()) {
    const size_t taken = std::min<size_t>(bytes.size(), 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) bits = bits << 8U | (i < taken ? static_cast<uint8_t>(bytes[i]) : 0U);
    for (size_t i = 0; i < 4; ++i) out += i <= taken ? kDigits[bits >> (18 - 6 * i) & 0x3fU] : '=';
    bytes.remove_prefix(taken);
  }
  return out;
}

}  // namespace subako::protocol
