#include "abi/arguments.h"

#include <array>
#include <cstdio>
#include <string>

namespace subako::abi {

namespace {

std::string hex(uint64_t value) {
  std::array<char, 19> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::expected<std::span<std::byte>, Trap> plain(GuestMemory memory, std::span<const uint64_t> words) {
  return memory.bytes(detail::low(words[0]), detail::low(words[1]));
}

}  // namespace

Trap GuestMemory::outside(uint64_t at, uint64_t length) {
  return {"the pointer " + hex(at) + " and its " + std::to_string(length) + " bytes lie outside memory"};
}

Trap GuestMemory::misaligned(uint64_t at, size_t alignment) {
  return {"the pointer " + hex(at) + " is not aligned to " + std::to_string(alignment) + " bytes"};
}

std::expected<std::span<std::byte>, Trap> detail::aligned(GuestMemory memory, uint64_t at, uint64_t length,
                                                          size_t alignment) {
  if (at % alignment != 0) return std::unexpected(GuestMemory::misaligned(at, alignment));
  return memory.bytes(at, length);
}

std::expected<Iovecs, Trap> Iovecs::take(GuestMemory memory, uint64_t at, uint64_t count) {
  auto bytes = detail::aligned(memory, at, count * sizeof(Layout), alignof(Layout));
  if (!bytes) return std::unexpected(std::move(bytes).error());
  const Iovecs taken(memory, GuestArray<Layout>(*bytes));
  if (taken.too_many()) return taken;
  for (size_t i = 0; i < taken.list_.size(); ++i) {
    const Layout one = taken.list_.get(i);
    if (one.length > 0 && !memory.holds(one.at, one.length)) {
      return std::unexpected(GuestMemory::outside(one.at, one.length));
    }
  }
  return taken;
}

std::expected<GuestBuffer, Trap> Argument<GuestBuffer>::take(GuestMemory memory,
                                                             std::span<const uint64_t> words) {
  auto bytes = plain(memory, words);
  if (!bytes) return std::unexpected(std::move(bytes).error());
  return GuestBuffer{*bytes};
}

std::expected<GuestBytes, Trap> Argument<GuestBytes>::take(GuestMemory memory,
                                                           std::span<const uint64_t> words) {
  auto bytes = plain(memory, words);
  if (!bytes) return std::unexpected(std::move(bytes).error());
  return GuestBytes{*bytes};
}

std::expected<GuestPath, Trap> Argument<GuestPath>::take(GuestMemory memory,
                                                         std::span<const uint64_t> words) {
  auto bytes = plain(memory, words);
  if (!bytes) return std::unexpected(std::move(bytes).error());
  return GuestPath{{reinterpret_cast<const char*>(bytes->data()), bytes->size()}};
}

std::expected<Iovecs, Trap> Argument<Iovecs>::take(GuestMemory memory, std::span<const uint64_t> words) {
  return Iovecs::take(memory, detail::low(words[0]), detail::low(words[1]));
}

}  // namespace subako::abi
