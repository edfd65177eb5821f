// Base64 (RFC 4648 §4): read as guests write it (spec: R2), with or without padding, with white space
// anywhere; written as terminals read it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace subako::protocol {

enum class Base64Fault : uint8_t {
  kNoBase64,  // another character, one after the padding, or a single digit left over
  kTooLarge,  // more than was asked for; how much more is not looked at
};

// At most `max_bytes` decoded bytes; no more than those are held.
[[nodiscard]] std::expected<std::string, Base64Fault> decode_base64(std::string_view text, size_t max_bytes);

// With padding, on one line.
[[nodiscard]] std::string encode_base64(std::string_view bytes);

}  // namespace subako::protocol
