// The types that a host function's parameters may have beside numbers (spec: F2). Each is made of one or two
// words of the call and is checked whole, range and alignment, before the function's body runs: a body never
// meets a bad pointer, and a call with one has no side effect.
//
// They are views of guest memory: good for one call, never kept, and nothing is allocated by a size of the
// guest's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <string_view>
#include <type_traits>

#include "abi/answer.h"
#include "abi/memory.h"
#include "base/limits.h"

namespace subako::abi {

enum class ValueType : uint8_t { kI32, kI64 };

// Where one T goes. T is a little-endian layout without padding.
template <class T>
class OutPtr {
 public:
  static_assert(std::has_unique_object_representations_v<T>,
                "padding would show the guest bytes of the host");
  explicit OutPtr(std::span<std::byte> to) : to_(to.data()) {}
  void set(const T& value) const { std::memcpy(to_, &value, sizeof value); }

 private:
  std::byte* to_;
};

// (pointer, length): bytes to read.
struct GuestBytes {
  std::span<const std::byte> bytes;
};

// (pointer, length): bytes to fill.
struct GuestBuffer {
  std::span<std::byte> bytes;
};

// (pointer, length): text that names a file. Nothing is said about its bytes yet.
struct GuestPath {
  std::string_view text;
};

// (pointer, count): an array of T, aligned.
template <class T>
class GuestArray {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  explicit GuestArray(std::span<std::byte> bytes) : bytes_(bytes) {}
  // For functions whose count doesn't follow the pointer.
  [[nodiscard]] static std::expected<GuestArray, Trap> take(GuestMemory memory, uint32_t at, uint32_t count);
  [[nodiscard]] size_t size() const { return bytes_.size() / sizeof(T); }
  [[nodiscard]] T get(size_t index) const {
    T value;
    std::memcpy(&value, bytes_.subspan(index * sizeof(T), sizeof(T)).data(), sizeof value);
    return value;
  }
  void set(size_t index, const T& value) const {
    static_assert(std::has_unique_object_representations_v<T>,
                  "padding would show the guest bytes of the host");
    std::memcpy(bytes_.subspan(index * sizeof(T), sizeof(T)).data(), &value, sizeof value);
  }

 private:
  std::span<std::byte> bytes_;
};

// (pointer, count): buffers to fill or to read, in order. An empty buffer may point anywhere; every other one
// lies inside memory. More than kMost are not looked at: the function says so by an error of its own (as
// Linux does past IOV_MAX), so that a call's cost has a bound.
class Iovecs {
 public:
  static constexpr size_t kMost = limits::kIovecs;

  struct Layout {
    uint32_t at;
    uint32_t length;
  };

  [[nodiscard]] static std::expected<Iovecs, Trap> take(GuestMemory memory, uint64_t at, uint64_t count);

  [[nodiscard]] bool too_many() const { return list_.size() > kMost; }

  // Calls each(span) for the buffers that aren't empty until it returns false, or `most` bytes in all are
  // handed out; the last buffer may be shortened for that.
  template <class Each>
  void for_each(uint64_t most, const Each& each) const {
    if (too_many()) return;
    for (size_t i = 0; i < list_.size() && most > 0; ++i) {
      const Layout one = list_.get(i);
      if (one.length == 0) continue;
      const uint64_t length = one.length < most ? one.length : most;
      // Looked up again: an earlier buffer may lie over the list and have changed it.
      auto bytes = memory_.bytes(one.at, length);
      if (!bytes || !each(*bytes)) return;
      most -= length;
    }
  }

 private:
  Iovecs(GuestMemory memory, GuestArray<Layout> list) : memory_(memory), list_(list) {}
  GuestMemory memory_;
  GuestArray<Layout> list_;
};

// How a parameter type is made of words: `kWords`, and `take`, which gets exactly so many.
template <class T>
struct Argument {
  static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
  static_assert(sizeof(T) == 4 || sizeof(T) == 8,
                "a narrower type would drop bits of the guest's word unseen");
  static constexpr std::array kWords{sizeof(T) == 8 ? ValueType::kI64 : ValueType::kI32};
  static std::expected<T, Trap> take(GuestMemory, std::span<const uint64_t> words) {
    return static_cast<T>(words[0]);
  }
};

namespace detail {

inline constexpr std::array kPointer{ValueType::kI32};
inline constexpr std::array kPointerAndSize{ValueType::kI32, ValueType::kI32};

// The upper half of an i32's raw word means nothing.
inline uint64_t low(uint64_t word) {
  return static_cast<uint32_t>(word);
}

std::expected<std::span<std::byte>, Trap> aligned(GuestMemory memory, uint64_t at, uint64_t length,
                                                  size_t alignment);

}  // namespace detail

template <class T>
std::expected<GuestArray<T>, Trap> GuestArray<T>::take(GuestMemory memory, uint32_t at, uint32_t count) {
  auto bytes = detail::aligned(memory, at, uint64_t{count} * sizeof(T), alignof(T));
  if (!bytes) return std::unexpected(std::move(bytes).error());
  return GuestArray(*bytes);
}

// The whole memory, for a function whose pointers are no WASI pointers. Takes no word.
template <>
struct Argument<GuestMemory> {
  static constexpr std::array<ValueType, 0> kWords{};
  static std::expected<GuestMemory, Trap> take(GuestMemory memory, std::span<const uint64_t>) {
    return memory;
  }
};

template <class T>
struct Argument<OutPtr<T>> {
  static constexpr auto kWords = detail::kPointer;
  static std::expected<OutPtr<T>, Trap> take(GuestMemory memory, std::span<const uint64_t> words) {
    auto to = detail::aligned(memory, detail::low(words[0]), sizeof(T), alignof(T));
    if (!to) return std::unexpected(std::move(to).error());
    return OutPtr<T>(*to);
  }
};

template <class T>
struct Argument<GuestArray<T>> {
  static constexpr auto kWords = detail::kPointerAndSize;
  static std::expected<GuestArray<T>, Trap> take(GuestMemory memory, std::span<const uint64_t> words) {
    return GuestArray<T>::take(memory, static_cast<uint32_t>(words[0]), static_cast<uint32_t>(words[1]));
  }
};

template <>
struct Argument<GuestBuffer> {
  static constexpr auto kWords = detail::kPointerAndSize;
  static std::expected<GuestBuffer, Trap> take(GuestMemory memory, std::span<const uint64_t> words);
};

template <>
struct Argument<GuestBytes> {
  static constexpr auto kWords = detail::kPointerAndSize;
  static std::expected<GuestBytes, Trap> take(GuestMemory memory, std::span<const uint64_t> words);
};

template <>
struct Argument<GuestPath> {
  static constexpr auto kWords = detail::kPointerAndSize;
  static std::expected<GuestPath, Trap> take(GuestMemory memory, std::span<const uint64_t> words);
};

template <>
struct Argument<Iovecs> {
  static constexpr auto kWords = detail::kPointerAndSize;
  static std::expected<Iovecs, Trap> take(GuestMemory memory, std::span<const uint64_t> words);
};

}  // namespace subako::abi
