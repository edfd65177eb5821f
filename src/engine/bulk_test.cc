// Instructions over much memory, which the engine does in pieces (engine/patches), and what large memories cost.
#include <fstream>
#include <string>

#include "engine/instance_test.h"

namespace subako::engine {
namespace {

using BulkTest = InstanceTest;

constexpr std::string_view kLargeMemory = R"((memory (export "memory") 4096))";  // 256 MiB

TEST_F(BulkTest, one_instruction_over_much_memory_yields_and_ends_when_interrupted) {  // spec: L1, C12
  for (const char* body : {"(memory.fill (i32.const 0) (i32.const 1) (i32.const 0x10000000))",
                           "(memory.copy (i32.const 0x8000000) (i32.const 0) (i32.const 0x8000000))"}) {
    const Ticking ticking(*engine_);
    auto instance = start(body, "", kLargeMemory);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(resume(*instance), Instance::State::kYielded) << body;
    instance->interrupt();
    ASSERT_EQ(resume(*instance), Instance::State::kFinished) << body;
    const auto* interrupted = std::get_if<Interrupted>(&instance->finish());
    ASSERT_NE(interrupted, nullptr) << body;
    EXPECT_FALSE(interrupted->backtrace.empty());
    auto dropped = start(body, "", kLargeMemory);
    ASSERT_EQ(resume(*dropped), Instance::State::kYielded) << body;
  }
  auto begins = start("", "(func $first (memory.fill (i32.const 0) (i32.const 1) (i32.const 0x10000000))) (start $first)", kLargeMemory);
  const Ticking ticking(*engine_);
  EXPECT_EQ(begins->resume(), Instance::State::kYielded) << "in a start section too";
}

// Each checks, in the guest, the bytes around every border of the pieces in which the host does it.
TEST_F(BulkTest, one_instruction_over_much_memory_does_what_it_should) {  // spec: C1
  constexpr std::string_view kHelpers = R"(
    (func $number (param $from i32) (param $to i32)  ;; each byte of a range is its own number, folded
      (loop $next
        (i32.store8 (local.get $from) (i32.mul (local.get $from) (i32.const 0x9e3779b1)))
        (br_if $next (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 1))) (local.get $to)))))
    (func $expect (param $from i32) (param $to i32) (param $was i32)  ;; the bytes are those that were numbered at $was
      (loop $next
        (if (i32.ne (i32.load8_u (local.get $from)) (i32.and (i32.mul (local.get $was) (i32.const 0x9e3779b1)) (i32.const 255)))
          (then (call $leave (local.get $from))))
        (local.set $was (i32.add (local.get $was) (i32.const 1)))
        (br_if $next (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 1))) (local.get $to))))))";
  const Ticking ticking(*engine_);
  for (const int shift : {1, 3, 4095, 1'048'575, 1'048'576, 1'048'577, 2'500'000}) {
    for (const bool up : {true, false}) {
      const std::string low = "(i32.const 100)";
      const std::string high = "(i32.const " + std::to_string(100 + shift) + ")";
      const std::string from = up ? low : high;
      const std::string to = up ? high : low;
      const std::string end = "(i32.const " + std::to_string((up ? 100 + shift : 100) + 5'000'000) + ")";
      auto instance = start("(call $number (i32.const 0) (i32.const 9000000)) (memory.copy " + to + from + "(i32.const 5000000))" +
                                "(call $expect " + to + end + from + ") (call $expect (i32.const 0) " + low + "(i32.const 0))" +
                                "(call $expect " + end + "(i32.const 9000000) " + end + ")",
                            std::string(kHelpers), R"((memory (export "memory") 160))");
      while (resume(*instance) != Instance::State::kFinished) {
      }
      EXPECT_TRUE(std::holds_alternative<Returned>(instance->finish())) << shift << (up ? " up" : " down");
    }
  }
  auto filled = start(R"((local $at i32)
      (memory.fill (i32.const 7) (i32.const 0xabcd) (i32.const 3000001)) (local.set $at (i32.const 7))
      (if (i32.or (i32.load8_u (i32.const 6)) (i32.load8_u (i32.const 3000008))) (then (call $leave (i32.const 1))))
      (loop $next (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 0xcd)) (then (call $leave (local.get $at))))
        (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (i32.const 3000008)))))",
                      "", R"((memory (export "memory") 160))");
  while (resume(*filled) != Instance::State::kFinished) {
  }
  EXPECT_TRUE(std::holds_alternative<Returned>(filled->finish()));
}

// What the tick before it makes it do at its first border of two pieces.
TEST_F(BulkTest, much_data_put_into_memory_at_once_yields_and_is_all_there) {  // spec: L1, C1, C12
  constexpr uint32_t kBytes = 3'000'001;
  std::string data;  // each byte is a digit made of its own number
  for (uint32_t at = 0; at < kBytes; ++at) data += static_cast<char>('0' + (at * 0x9e3779b1U >> 29U));
  const std::string passive = "(data $d \"" + data + "\")";
  constexpr std::string_view kTenMiB = R"((memory (export "memory") 160))";
  const std::string init = "(call $tick) (memory.init $d (i32.const 7) (i32.const 1) (i32.const 3000000))";
  auto instance = start("(local $at i32)" + init + R"(
      (if (i32.or (i32.load8_u (i32.const 6)) (i32.load8_u (i32.const 3000007))) (then (call $leave (i32.const 1))))
      (loop $next
        (if (i32.ne (i32.load8_u (i32.add (local.get $at) (i32.const 7)))
                    (i32.add (i32.const 48) (i32.shr_u (i32.mul (i32.add (local.get $at) (i32.const 1)) (i32.const 0x9e3779b1)) (i32.const 29))))
          (then (call $leave (local.get $at))))
        (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (i32.const 3000000)))))",
                        passive, kTenMiB);
  ASSERT_EQ(resume(*instance), Instance::State::kYielded);
  ASSERT_EQ(resume(*instance), Instance::State::kFinished);
  EXPECT_TRUE(std::holds_alternative<Returned>(instance->finish()));
  auto dropped = start(init, passive, kTenMiB);
  ASSERT_EQ(resume(*dropped), Instance::State::kYielded);
  auto past = start("(memory.init $d (i32.const 7) (i32.const 2) (i32.const 3000000))", passive, kTenMiB);
  ASSERT_EQ(resume(*past), Instance::State::kFinished);
  EXPECT_TRUE(std::holds_alternative<Trapped>(past->finish()));
}

TEST_F(BulkTest, a_large_memory_is_in_huge_pages_where_there_are_any) {  // spec: C12
  std::ifstream setting("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  std::getline(setting, modes);
  if (modes.find("[never]") != std::string::npos || modes.empty()) GTEST_SKIP() << "this machine has no huge pages: " << modes;
  const auto advised = [] {
    std::ifstream maps("/proc/self/smaps");
    size_t count = 0;
    for (std::string line; std::getline(maps, line);) count += line.starts_with("VmFlags:") && line.find(" hg") != std::string::npos;
    return count;
  };
  auto small = start("(drop (memory.grow (i32.const 500))) (drop (call $wait (i64.const 0)))");
  host_.waits_left = 1;
  ASSERT_EQ(resume(*small), Instance::State::kWaiting);
  EXPECT_EQ(advised(), 0U) << "31 MiB stay in small pages";
  auto grown = start("(drop (memory.grow (i32.const 600))) (drop (call $wait (i64.const 0)))");
  host_.waits_left = 1;
  ASSERT_EQ(resume(*grown), Instance::State::kWaiting);
  const size_t one = advised();
  EXPECT_GT(one, 0U);
  auto large = start("(drop (call $wait (i64.const 0)))", "", kLargeMemory);
  host_.waits_left = 1;
  ASSERT_EQ(resume(*large), Instance::State::kWaiting);
  EXPECT_GT(advised(), one);
}

}  // namespace
}  // namespace subako::engine
