// A guest's linear memory as one host call sees it (spec: F2). The only way to reach it: every range is
// checked in 64 bits. A GuestMemory, and whatever was taken from it, is worthless after the call: memory may
// move when it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <type_traits>

#include "abi/answer.h"

namespace subako::abi {

class GuestMemory {
 public:
  explicit GuestMemory(std::span<std::byte> memory) : memory_(memory) {}

  [[nodiscard]] size_t size() const { return memory_.size(); }

  [[nodiscard]] bool holds(uint64_t at, uint64_t length) const {
    return length <= memory_.size() && at <= memory_.size() - length;
  }

  // The range itself. An empty one lies inside as long as `at` is at most the memory's size.
  [[nodiscard]] std::expected<std::span<std::byte>, Trap> bytes(uint64_t at, uint64_t length) const {
    if (!holds(at, length)) return std::unexpected(outside(at, length));
    return memory_.subspan(static_cast<size_t>(at), static_cast<size_t>(length));
  }

  template <class T>
  [[nodiscard]] std::expected<T, Trap> read(uint64_t at) const {
    static_assert(std::is_trivially_copyable_v<T>);
    auto from = bytes(at, sizeof(T));
    if (!from) return std::unexpected(std::move(from).error());
    T value;
    std::memcpy(&value, from->data(), sizeof value);
    return value;
  }

  template <class T>
  [[nodiscard]] std::expected<void, Trap> write(uint64_t at, const T& value) const {
    static_assert(std::has_unique_object_representations_v<T>,
                  "padding would show the guest bytes of the host");
    auto to = bytes(at, sizeof(T));
    if (!to) return std::unexpected(std::move(to).error());
    std::memcpy(to->data(), &value, sizeof value);
    return {};
  }

  // Without the function's name, which import.h puts before it.
  [[nodiscard]] static Trap outside(uint64_t at, uint64_t length);
  [[nodiscard]] static Trap misaligned(uint64_t at, size_t alignment);

 private:
  std::span<std::byte> memory_;
};

}  // namespace subako::abi
