// How a C++ function becomes an import of a guest: one row of a table (spec: M3, F2, H1).
//
//   abi::Answer<Errno> fd_tell(Host& host, Descriptor fd, abi::OutPtr<uint64_t> offset);
//   import<"wasi_snapshot_preview1", "fd_tell", fd_tell>(kWaits)
//
// The wasm signature and the checking of its pointers follow from the parameter types (arguments.h), left to
// right. The same rows link a guest, check an upload's imports and are walked by tests. No engine is needed
// to call one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "abi/answer.h"
#include "abi/arguments.h"
#include "abi/memory.h"

namespace subako::abi {

struct FunctionType {
  std::array<ValueType, 9> params{};  // those past param_count are kI32
  uint8_t param_count = 0;
  bool returns_i32 = false;
  bool operator==(const FunctionType&) const = default;
};

// "(i32, i64) -> i32", as people read it in a refusal.
[[nodiscard]] std::string describe(const FunctionType& type);

struct Import {
  std::string_view module;
  std::string_view name;
  FunctionType type;
  bool waits = false;  // may answer Wait: the engine links it so that the guest can be suspended in it
  // `raw` has one word for each wasm parameter; the upper half of an i32's is ignored. A function without a
  // result answers 0.
  Answer<uint32_t> (*call)(void* host, GuestMemory memory, std::span<const uint64_t> raw) = nullptr;
};

inline constexpr bool kWaits = true;
inline constexpr bool kNeverWaits = false;

// The row called `name` of rows sorted by name, or null.
[[nodiscard]] const Import* find(std::span<const Import> sorted, std::string_view name);

// A string that can be a template argument.
template <size_t N>
struct Text {
  char chars[N];
  consteval Text(const char (&text)[N]) {
    std::copy_n(text, N, chars);
  }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr std::string_view view() const { return {chars, N - 1}; }
};

// What a host function may return: an Answer of a number that fits 32 bits, or of nothing. A room whose
// functions return a type of its own says here how it becomes one.
template <class R>
struct Returned;

template <class T>
struct Returned<Answer<T>> {
  static_assert((std::is_integral_v<T> || std::is_enum_v<T>) && sizeof(T) <= sizeof(uint32_t));
  static constexpr bool kIsI32 = true;
  static Answer<uint32_t> answer(Answer<T> value) {
    if (!value) return std::unexpected(std::move(value).error());
    return static_cast<uint32_t>(*value);
  }
};

template <>
struct Returned<Answer<void>> {
  static constexpr bool kIsI32 = false;
  static Answer<uint32_t> answer(Answer<void> value) {
    if (!value) return std::unexpected(std::move(value).error());
    return 0U;
  }
};

namespace detail {

// Puts the function's name before a trap's message.
[[nodiscard]] Stop named(std::string_view function, Stop why);

template <class... A>
inline constexpr size_t kWordCount = (size_t{0} + ... + Argument<A>::kWords.size());

template <class... A>
consteval std::array<size_t, sizeof...(A)> first_words() {
  std::array<size_t, sizeof...(A)> first{};
  [[maybe_unused]] size_t next = 0;
  [[maybe_unused]] size_t i = 0;
  ((first[i++] = std::exchange(next, next + Argument<A>::kWords.size())), ...);
  return first;
}

template <auto F, Text Name, class R, class Host, class... A>
struct Caller {
  static Answer<uint32_t> call(void* host, GuestMemory memory, std::span<const uint64_t> raw) {
    return with(*static_cast<Host*>(host), memory, raw, std::index_sequence_for<A...>{});
  }

  template <size_t... I>
  static Answer<uint32_t> with(Host& host, [[maybe_unused]] GuestMemory memory,
                               [[maybe_unused]] std::span<const uint64_t> raw, std::index_sequence<I...>) {
    [[maybe_unused]] static constexpr auto kFirst = first_words<A...>();
    std::tuple<std::expected<A, Trap>...> taken{
        Argument<A>::take(memory, raw.subspan(kFirst[I], Argument<A>::kWords.size()))...};
    Trap* bad = nullptr;
    ((bad == nullptr && !std::get<I>(taken) ? void(bad = &std::get<I>(taken).error()) : void()), ...);
    if (bad != nullptr) return std::unexpected(named(Name.view(), std::move(*bad)));
    auto answer = Returned<R>::answer(F(host, std::move(*std::get<I>(taken))...));
    if (!answer) return std::unexpected(named(Name.view(), std::move(answer).error()));
    return answer;
  }
};

template <Text Module, Text Name, auto F, class R, class Host, class... A>
consteval Import make(R (*)(Host&, A...), bool waits) {
  static_assert(kWordCount<A...> <= std::tuple_size_v<decltype(FunctionType::params)>);
  Import row{.module = Module.view(), .name = Name.view(), .type = {}, .waits = waits, .call = nullptr};
  [[maybe_unused]] const auto append = [&row](const auto& words) {
    for (const ValueType word : words) row.type.params[row.type.param_count++] = word;
  };
  (append(Argument<A>::kWords), ...);
  row.type.returns_i32 = Returned<R>::kIsI32;
  row.call = Caller<F, Name, R, Host, A...>::call;
  return row;
}

}  // namespace detail

template <Text Module, Text Name, auto F>
consteval Import import(bool waits) {
  return detail::make<Module, Name, F>(F, waits);
}

}  // namespace subako::abi
