#include "guest_http/imports.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "guest_http/host.h"

namespace subako::guest_http {

namespace {

enum class Misuse : int32_t {
  kOutsideMemory = -1,
  kNothingHeld = -2,
  kLengthDiffers = -3,
};

uint32_t result(Misuse misuse) { return static_cast<uint32_t>(std::to_underlying(misuse)); }

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

abi::Answer<uint32_t> request(Host& host, abi::GuestMemory memory, uint32_t at, uint32_t length) {
  const auto bytes = memory.bytes(at, length);
  if (!bytes) return result(Misuse::kOutsideMemory);
  std::optional<std::string> answer = host.backend.answer(text_of(*bytes));
  if (!answer) return abi::stop(abi::Wait{});
  // Only negative results mean misuse: a longer answer couldn't be told. Bodies are bounded far below (L6).
  if (answer->size() > std::numeric_limits<int32_t>::max()) {
    answer = R"({"error":{"kind":"abi","message":"the answer is too long"}})";
  }
  host.held = std::move(answer);
  return static_cast<uint32_t>(host.held->size());
}

abi::Answer<uint32_t> read_response(Host& host, abi::GuestMemory memory, uint32_t at, uint32_t length) {
  if (!host.held) return result(Misuse::kNothingHeld);
  if (length != host.held->size()) return result(Misuse::kLengthDiffers);
  const auto to = memory.bytes(at, length);
  if (!to) return result(Misuse::kOutsideMemory);
  std::memcpy(to->data(), host.held->data(), length);
  host.held.reset();
  return 0U;
}

constexpr std::array kRows{
    abi::import<"subako_http", "read_response", read_response>(abi::kNeverWaits),
    abi::import<"subako_http", "request", request>(abi::kWaits),
};

}  // namespace

std::span<const abi::Import> imports() { return kRows; }

}  // namespace subako::guest_http
