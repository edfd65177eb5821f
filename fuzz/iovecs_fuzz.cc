// Any words as pointers, and any lists of buffers, in a small memory (spec: F2). What is taken lies in the
// memory, aligned, whatever overlaps or wraps; what can't be taken is a trap and nothing else; a list hands
// out no more than the most that was asked for, even while the buffers are written over it.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "abi/arguments.h"
#include "input.h"
#include "require.h"

using namespace subako;
using abi::Argument;
using abi::GuestArray;
using abi::GuestMemory;
using abi::Iovecs;
using fuzz::Input;
using fuzz::require;

namespace {

// Behind its end there is nothing, so that ASan sees a byte too far.
struct Memory {
  explicit Memory(size_t size) : size(size), bytes(std::make_unique<std::byte[]>(size)) {}
  [[nodiscard]] std::span<std::byte> span() const { return {bytes.get(), size}; }
  [[nodiscard]] bool holds(std::span<const std::byte> part) const {
    return part.data() >= bytes.get() && part.size() <= size &&
           static_cast<size_t>(part.data() - bytes.get()) <= size - part.size();
  }
  // As a wasm engine sees it: in numbers so wide that nothing wraps.
  [[nodiscard]] bool holds(__uint128_t at, __uint128_t length) const { return at + length <= size; }

  size_t size;
  std::unique_ptr<std::byte[]> bytes;
};

uint32_t u32_at(const Memory& memory, uint64_t at) {
  uint32_t value = 0;
  std::memcpy(&value, memory.bytes.get() + at, sizeof value);
  return value;
}

void check_trap(const abi::Trap& trap) {
  require(trap.message.starts_with("the pointer 0x"), "a trap names the pointer", trap.message);
}

template <class T>
void check_range(const Memory& memory, std::span<const uint64_t> words, std::span<const std::byte> taken) {
  require(memory.holds(taken), "what is taken lies in memory");
  require(taken.size() == static_cast<uint32_t>(words[1]) * sizeof(T),
          "it has the length that was asked for");
  require(static_cast<size_t>(taken.data() - memory.bytes.get()) == static_cast<uint32_t>(words[0]),
          "it stands where the pointer says");
}

void check_bytes(const Memory& memory, std::span<const uint64_t> words) {
  const bool fits = memory.holds(static_cast<uint32_t>(words[0]), static_cast<uint32_t>(words[1]));
  const GuestMemory guest(memory.span());
  const auto buffer = Argument<abi::GuestBuffer>::take(guest, words);
  const auto bytes = Argument<abi::GuestBytes>::take(guest, words);
  const auto path = Argument<abi::GuestPath>::take(guest, words);
  require(buffer.has_value() == fits && bytes.has_value() == fits && path.has_value() == fits,
          "a range is taken where memory holds it");
  if (!fits) return check_trap(buffer.error());
  check_range<std::byte>(memory, words, buffer->bytes);
  check_range<std::byte>(memory, words, bytes->bytes);
  check_range<std::byte>(memory, words, std::as_bytes(std::span(path->text)));
}

template <class T>
void check_array(const Memory& memory, std::span<const uint64_t> words) {
  const auto at = static_cast<uint32_t>(words[0]);
  const auto count = static_cast<uint32_t>(words[1]);
  const GuestMemory guest(memory.span());
  const auto array = Argument<GuestArray<T>>::take(guest, words);
  require(array.has_value() == (at % alignof(T) == 0 && memory.holds(at, __uint128_t{count} * sizeof(T))),
          "an array is taken where it is aligned and memory holds it");
  if (array && array->size() > 0) {
    array->set(array->size() - 1, static_cast<T>(count));
    require(array->get(array->size() - 1) == static_cast<T>(count), "an array gives back what was put in");
  }
  if (!array) check_trap(array.error());
  const auto out = Argument<abi::OutPtr<T>>::take(guest, words);
  require(out.has_value() == (at % alignof(T) == 0 && memory.holds(at, sizeof(T))),
          "a result has a place where it is aligned and memory holds it");
  if (out) out->set(T{7});
}

// A raw word may have any upper half; the guest's i32 is the lower one.
bool list_is_sound(const Memory& memory, uint32_t at, uint32_t count) {
  if (at % 4 != 0 || !memory.holds(at, __uint128_t{count} * 8)) return false;
  if (count > Iovecs::kMost) return true;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t length = u32_at(memory, at + uint64_t{i} * 8 + 4);
    if (length > 0 && !memory.holds(u32_at(memory, at + uint64_t{i} * 8), length)) return false;
  }
  return true;
}

void check_list(const Memory& memory, std::span<const uint64_t> words, uint64_t most, uint8_t fill) {
  const auto count = static_cast<uint32_t>(words[1]);
  const bool sound = list_is_sound(memory, static_cast<uint32_t>(words[0]), count);
  const auto list = Argument<Iovecs>::take(GuestMemory(memory.span()), words);
  require(list.has_value() == sound, "a list is taken where it and its buffers lie in memory");
  if (!list) return check_trap(list.error());
  require(list->too_many() == (count > Iovecs::kMost), "a list that is too long says so");
  uint64_t given = 0;
  size_t calls = 0;
  list->for_each(most, [&](std::span<std::byte> buffer) {
    require(!list->too_many() && !buffer.empty(), "no buffer of a list that is too long, and no empty one");
    require(memory.holds(buffer), "a buffer lies in memory");
    given += buffer.size();
    require(given <= most, "a list hands out no more than the most");
    require(++calls <= count, "a list hands out each buffer once");
    // Over the list too, if it lies there.
    if (fill % 2 == 0) std::memset(buffer.data(), fill, std::min<size_t>(buffer.size(), 64));
    return fill % 16 != 15 || calls < 3;
  });
}

// What is left of the input lies in memory from its start on.
void run(Input input) {
  const Memory memory(size_t{1} << (input.byte() % 15));
  const uint8_t fill = input.byte();
  const uint64_t most = input.number(1 + fill % 4);
  std::vector<uint64_t> words{input.number(4), input.number(4)};
  const uint64_t upper = uint64_t{input.byte()} << 32;
  for (uint64_t& word : words) word |= upper;
  const std::string_view content = input.rest().substr(0, memory.size);
  std::memcpy(memory.bytes.get(), content.data(), content.size());
  check_list(memory, words, most, fill);
  check_bytes(memory, words);
  check_array<uint8_t>(memory, words);
  check_array<uint16_t>(memory, words);
  check_array<uint32_t>(memory, words);
  check_array<uint64_t>(memory, words);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  run(Input(data, size));
  return 0;
}
