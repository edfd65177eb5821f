// The bytes in which a story of calls is told to wasi_fuzz.cc, and written by wasi_seeds.cc. Most bytes stand
// for something that makes sense (an open descriptor, a pointer to where a path lies, that path's length), so
// that a changed one still does.
//
// A story is a byte of the setting and then operations: a byte that says which, and what it needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace script {

struct Setting {
  bool bound_late = false;  // the trees come when something waits for them
  bool stdin_closed = false;
  size_t pages = 1;  // of memory; twenty are more than one host call moves
  uint64_t budget = 1 << 20;
  size_t stdout_room = 1 << 20;
  size_t environment = 0;
};

inline Setting setting(uint8_t byte) {
  return {.bound_late = (byte & 1U) != 0,
          .stdin_closed = (byte & 2U) != 0,
          .pages = (byte & 64U) != 0  ? size_t{20}
                   : (byte & 4U) != 0 ? size_t{2}
                                      : size_t{1},
          .budget = (byte & 8U) != 0 ? uint64_t{4096} : uint64_t{1} << 20U,
          .stdout_room = (byte & 16U) != 0 ? size_t{100} : size_t{1} << 20U,
          .environment = (byte & 32U) != 0 ? size_t{2} : size_t{0}};
}

// An operation is one of these, or the index of a function in wasi::imports() and then a word for each of its
// parameters. `kWatched`: whether it changes anything is looked at, should it trap.
inline constexpr uint8_t kOpMask = 0x3f;
inline constexpr uint8_t kWatched = 0x80;
inline constexpr uint8_t kPut = 0x3f;      // slot, count, bytes: into memory where the slot points
inline constexpr uint8_t kFeed = 0x3e;     // count, bytes: into stdin
inline constexpr uint8_t kAdvance = 0x3d;  // four bytes: nanoseconds
inline constexpr uint8_t kEndInput = 0x3c;

// A word is a tag, and for the raw ones its bytes: below kPointers, the number itself.
inline constexpr uint8_t kPointers = 48;
inline constexpr uint8_t kEdges = 96;     // edge()
inline constexpr uint8_t kLengths = 128;  // how much was put into that slot
inline constexpr uint8_t kNewest = 144;   // the descriptor that was opened last
inline constexpr uint8_t kRaw2 = 145;     // two bytes follow
inline constexpr uint8_t kRaw8 = 224;     // four follow, from 240 on eight

// The slots: sixteen for paths and other texts, then places for results, lists, buffers, and edges of memory.
inline constexpr uint8_t kList = 18;
inline constexpr uint8_t kBuffer = 20;
inline constexpr uint8_t kResult = 16;
inline uint64_t pointer(uint8_t slot, uint64_t size) {
  slot %= 48;
  if (slot < 16) return 1024 + uint64_t{slot} * 512;
  const std::array<uint64_t, 32> places{
      64,        96,        256,      512,      16384,    20000,      32768,      40000,
      65,        66,        257,      260,      0,        4,          8,          1025,
      size,      size - 1,  size - 2, size - 4, size - 8, size - 16,  size - 24,  size - 32,
      size - 48, size - 64, size + 1, size + 8, size / 2, 0xfffffff8, 0xfffffff0, 0xffffffff};
  return places[slot - 16];
}

inline uint64_t edge(uint8_t index) {
  static constexpr std::array<uint64_t, 32> kEdge{48,
                                                  63,
                                                  64,
                                                  66,
                                                  100,
                                                  255,
                                                  256,
                                                  1000,
                                                  1023,
                                                  1024,
                                                  1025,
                                                  4095,
                                                  4096,
                                                  4097,
                                                  65535,
                                                  65536,
                                                  1U << 20U,
                                                  (1U << 20U) + 1,
                                                  0x3fffffff,
                                                  0x40000000,
                                                  0x7fffffff,
                                                  0x80000000,
                                                  0xfffffff0,
                                                  0xffffffff,
                                                  uint64_t{1} << 32U,
                                                  uint64_t{1} << 40U,
                                                  0x7fffffff00000000,
                                                  0x7ffffffffffffffe,
                                                  0x7fffffffffffffff,
                                                  0x8000000000000000,
                                                  0xfffffffffffffff0,
                                                  0xffffffffffffffff};
  return kEdge[index % 32];
}

}  // namespace script
