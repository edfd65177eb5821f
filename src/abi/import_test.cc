#include "abi/import.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace subako::abi {
namespace {

struct Pair {
  uint32_t first;
  uint32_t second;
};

struct Host {
  int runs = 0;
  std::string seen;
};

Answer<uint32_t> numbers(Host& host, uint32_t a, int64_t b, uint32_t c) {
  ++host.runs;
  host.seen = std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(c);
  return 7U;
}
Answer<void> leave(Host&, uint32_t code) {
  return stop(Exit{code});
}
Answer<uint32_t> outs(Host& host, OutPtr<uint64_t> first, OutPtr<Pair> second) {
  ++host.runs;
  first.set(0x0102030405060708U);
  second.set({1, 2});
  return 0U;
}
Answer<uint32_t> path(Host& host, GuestPath text) {
  host.seen = text.text;
  return 0U;
}
Answer<uint32_t> vectors(Host& host, Iovecs iovecs) {
  ++host.runs;
  if (iovecs.too_many()) return 28U;
  host.seen.clear();
  iovecs.for_each(6, [&](std::span<std::byte> bytes) {
    host.seen += std::to_string(bytes.size()) + ";";
    return true;
  });
  return 0U;
}
Answer<int32_t> whole(Host&, GuestMemory memory, uint32_t at) {
  return memory.holds(at, 4) ? 0 : -1;
}
Answer<uint32_t> traps(Host&) {
  return stop(Trap{"no more"});
}

constexpr std::array kRows{
    import <"m", "leave", leave>(kNeverWaits), import <"m", "numbers", numbers>(kWaits),
    import <"m", "outs", outs>(kNeverWaits),   import <"m", "path", path>(kNeverWaits),
    import <"m", "traps", traps>(kNeverWaits), import <"m", "vectors", vectors>(kNeverWaits),
    import <"m", "whole", whole>(kNeverWaits),
};

class Imports : public ::testing::Test {
 protected:
  Answer<uint32_t> call(std::string_view name, std::initializer_list<uint64_t> words) {
    const std::vector<uint64_t> raw(words);
    return find(kRows, name)->call(&host_, GuestMemory(memory_), raw);
  }
  std::string trap(std::string_view name, std::initializer_list<uint64_t> words) {
    const auto answer = call(name, words);
    if (answer || !std::holds_alternative<Trap>(answer.error())) return "no trap";
    return std::get<Trap>(answer.error()).message;
  }
  void put(size_t at, uint32_t value) { std::memcpy(memory_.data() + at, &value, sizeof value); }

  Host host_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(256);
};

TEST_F(Imports, a_signature_follows_from_the_cpp_types) {  // spec: M3
  EXPECT_EQ(describe(find(kRows, "numbers")->type), "(i32, i64, i32) -> i32");
  EXPECT_EQ(describe(find(kRows, "leave")->type), "(i32) -> ()");
  EXPECT_EQ(describe(find(kRows, "outs")->type), "(i32, i32) -> i32");
  EXPECT_EQ(describe(find(kRows, "vectors")->type), "(i32, i32) -> i32");
  EXPECT_EQ(describe(find(kRows, "whole")->type), "(i32) -> i32");
  EXPECT_EQ(describe(find(kRows, "traps")->type), "() -> i32");
  EXPECT_TRUE(find(kRows, "numbers")->waits);
  EXPECT_FALSE(find(kRows, "outs")->waits);
  EXPECT_EQ(find(kRows, "nothing"), nullptr);
  EXPECT_EQ(find(kRows, "zzz"), nullptr);
}

TEST_F(Imports, words_become_numbers_and_the_upper_half_of_an_i32_is_ignored) {
  EXPECT_EQ(call("numbers", {0xdeadbeef'00000005U, static_cast<uint64_t>(-9), 0xffffffffU}), 7U);
  EXPECT_EQ(host_.seen, "5 -9 4294967295");
  EXPECT_EQ(call("whole", {0xffffffff'00000000U}), 0U);
  EXPECT_EQ(call("whole", {253}), 0xffffffffU);
}

TEST_F(Imports, an_exit_has_its_code) {
  const auto answer = call("leave", {0xffffffffU});
  ASSERT_FALSE(answer);
  EXPECT_EQ(std::get<Exit>(answer.error()).code, 0xffffffffU);
}

TEST_F(Imports, out_pointers_are_checked_before_the_body_runs) {  // spec: F2
  EXPECT_EQ(call("outs", {248, 240}), 0U);
  EXPECT_EQ(memory_[248], std::byte{8});
  EXPECT_EQ(memory_[244], std::byte{2});
  EXPECT_EQ(host_.runs, 1);
  EXPECT_EQ(trap("outs", {256, 0}), "outs: the pointer 0x100 and its 8 bytes lie outside memory");
  EXPECT_EQ(trap("outs", {0, 0xfffffffcU}),
            "outs: the pointer 0xfffffffc and its 8 bytes lie outside memory");
  EXPECT_EQ(trap("outs", {4, 0}), "outs: the pointer 0x4 is not aligned to 8 bytes");
  EXPECT_EQ(trap("outs", {0, 2}), "outs: the pointer 0x2 is not aligned to 4 bytes");
  EXPECT_EQ(host_.runs, 1);
}

TEST_F(Imports, a_range_is_summed_in_64_bits) {  // spec: F2
  EXPECT_EQ(trap("path", {0xfffffff0U, 32}),
            "path: the pointer 0xfffffff0 and its 32 bytes lie outside memory");
  EXPECT_EQ(trap("path", {1, 0xffffffffU}),
            "path: the pointer 0x1 and its 4294967295 bytes lie outside memory");
  EXPECT_EQ(call("path", {256, 0}), 0U);
  EXPECT_EQ(trap("path", {257, 0}), "path: the pointer 0x101 and its 0 bytes lie outside memory");
  memory_[254] = std::byte{'h'};
  memory_[255] = std::byte{'i'};
  EXPECT_EQ(call("path", {254, 2}), 0U);
  EXPECT_EQ(host_.seen, "hi");
}

TEST_F(Imports, iovecs_may_end_at_the_end_of_memory_and_empty_ones_point_anywhere) {  // spec: F2
  put(0, 0xffffffffU);
  put(4, 0);
  put(8, 252);
  put(12, 4);
  put(16, 100);
  put(20, 50);
  EXPECT_EQ(call("vectors", {0, 3}), 0U);
  EXPECT_EQ(host_.seen, "4;2;");
  put(8, 253);
  EXPECT_EQ(trap("vectors", {0, 2}), "vectors: the pointer 0xfd and its 4 bytes lie outside memory");
  EXPECT_EQ(trap("vectors", {1, 1}), "vectors: the pointer 0x1 is not aligned to 4 bytes");
}

TEST_F(Imports, a_count_of_iovecs_never_wraps) {  // spec: F2
  EXPECT_EQ(trap("vectors", {0, 0x20000001U}),
            "vectors: the pointer 0x0 and its 4294967304 bytes lie outside memory");
  EXPECT_EQ(trap("vectors", {0, 33}), "vectors: the pointer 0x0 and its 264 bytes lie outside memory");
  EXPECT_EQ(call("vectors", {0, 0}), 0U);
}

TEST_F(Imports, over_1024_iovecs_are_left_to_the_function) {
  memory_.assign(8 * 1025, std::byte{0xff});
  EXPECT_EQ(call("vectors", {0, 1025}), 28U);
  EXPECT_NE(trap("vectors", {0, 1024}), "no trap");
}

TEST_F(Imports, a_trap_of_the_body_is_named_too) {
  EXPECT_EQ(trap("traps", {}), "traps: no more");
}

}  // namespace
}  // namespace subako::abi
