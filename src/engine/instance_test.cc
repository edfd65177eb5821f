#include "engine/instance.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <new>
#include <string>
#include <thread>

#include "engine/compile.h"
#include "support/wat.h"

namespace subako::engine {
namespace {

using testing::wat;

// Host functions that do one thing each, so that every way out of a guest can be had.
struct Host {
  int waits_left = 0;
  int calls = 0;
  uint32_t given = 0;
  size_t memory = 0;
};

abi::Answer<uint32_t> give(void* host, abi::GuestMemory memory, std::span<const uint64_t> raw) {
  auto& h = *static_cast<Host*>(host);
  ++h.calls;
  h.given = static_cast<uint32_t>(raw[0]);
  h.memory = memory.size();
  // Its last byte, as the host sees it.
  if (auto last = memory.bytes(memory.size() - 1, 1)) (*last)[0] = std::byte{0x5a};
  return 40U + h.given;
}
abi::Answer<uint32_t> wait(void* host, abi::GuestMemory memory, std::span<const uint64_t> raw) {
  auto& h = *static_cast<Host*>(host);
  if (h.waits_left-- > 0) return abi::stop(abi::Wait{});
  h.memory = memory.size();
  return static_cast<uint32_t>(raw[0] >> 32U) + 1U;
}
abi::Answer<uint32_t> slow(void*, abi::GuestMemory, std::span<const uint64_t>) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return 0U;
}
abi::Answer<uint32_t> leave(void*, abi::GuestMemory, std::span<const uint64_t> raw) {
  return abi::stop(abi::Exit{static_cast<uint32_t>(raw[0])});
}
abi::Answer<uint32_t> halt(void*, abi::GuestMemory, std::span<const uint64_t>) { return abi::stop(abi::Halt{}); }
abi::Answer<uint32_t> broken(void*, abi::GuestMemory, std::span<const uint64_t>) {
  return abi::stop(abi::Trap{"broken: a bad pointer"});
}

abi::Answer<uint32_t> throws(void*, abi::GuestMemory, std::span<const uint64_t>) { throw std::bad_alloc(); }
// As much stack as no function of ours takes.
abi::Answer<uint32_t> deep(void* host, abi::GuestMemory, std::span<const uint64_t>) {
  std::array<volatile char, 256 * 1024> room;
  for (size_t i = 0; i < room.size(); i += 4096) room[i] = 'x';
  ++static_cast<Host*>(host)->calls;
  return 0U;
}

constexpr abi::FunctionType kOne{{abi::ValueType::kI32}, 1, true};
constexpr abi::FunctionType kLong{{abi::ValueType::kI64}, 1, true};
constexpr abi::FunctionType kNone{{}, 0, false};
constexpr abi::FunctionType kAnswers{{}, 0, true};
constexpr abi::FunctionType kOneNone{{abi::ValueType::kI32}, 1, false};
constexpr abi::Import kTable[] = {
    {"h", "broken", kAnswers, true, broken},     {"h", "deep", kAnswers, false, deep},
    {"h", "deep_waiting", kAnswers, true, deep}, {"h", "give", kOne, false, give},
    {"h", "halt", kNone, false, halt},           {"h", "halt_waiting", kAnswers, true, halt},
    {"h", "leave", kOneNone, false, leave},      {"h", "slow", kLong, true, slow},
    {"h", "throws", kAnswers, false, throws},    {"h", "throws_waiting", kAnswers, true, throws},
    {"h", "wait", kLong, true, wait}};

constexpr std::string_view kImports = R"(
  (import "h" "broken" (func $broken (result i32))) (import "h" "give" (func $give (param i32) (result i32)))
  (import "h" "deep" (func $deep (result i32))) (import "h" "deep_waiting" (func $deep_waiting (result i32)))
  (import "h" "throws" (func $throws (result i32))) (import "h" "throws_waiting" (func $throws_waiting (result i32)))
  (import "h" "halt" (func $halt)) (import "h" "halt_waiting" (func $halt_waiting (result i32)))
  (import "h" "leave" (func $leave (param i32))) (import "h" "slow" (func $slow (param i64) (result i32)))
  (import "h" "wait" (func $wait (param i64) (result i32))))";
constexpr std::string_view kMemory = R"((memory (export "memory") 1))";

class InstanceTest : public ::testing::Test {
 protected:
  std::unique_ptr<Instance> start(const std::string& start_body, const std::string& more = "",
                                  std::string_view memory = kMemory) {
    const std::string text = "(module " + std::string(kImports) + std::string(memory) + more + "(func $main (export \"_start\") " + start_body + "))";
    Fd file(memfd_create("module", MFD_CLOEXEC));
    auto compiled = compile(*compiler_, wat(text), file.get());
    EXPECT_TRUE(compiled.has_value()) << compiled.error().message;
    auto module = LinkedModule::load(*engine_, std::move(file), {std::span<const abi::Import>(kTable)});
    EXPECT_TRUE(module.has_value()) << module.error().message;
    return std::make_unique<Instance>(*engine_, *module, std::vector<void*>{&host_});
  }

  // Past the moment when the instance is there.
  static Instance::State resume(Instance& instance) {
    const Instance::State state = instance.resume();
    return state == Instance::State::kStarted ? instance.resume() : state;
  }

  Finish run(const std::string& start_body, const std::string& more = "") {
    auto instance = start(start_body, more);
    while (resume(*instance) != Instance::State::kFinished) engine_->tick();
    return instance->finish();
  }

  Result<Engine> compiler_ = Engine::for_compiling();
  Result<Engine> engine_ = Engine::for_running(4);
  Host host_;
};

TEST_F(InstanceTest, every_way_out_is_told_apart) {  // spec: C9
  EXPECT_TRUE(std::holds_alternative<Returned>(run("")));
  EXPECT_EQ(std::get<Exited>(run("i32.const -1 call $leave")).code, 0xffffffffU);
  EXPECT_TRUE(std::holds_alternative<Halted>(run("call $halt")));
  EXPECT_TRUE(std::holds_alternative<Halted>(run("(drop (call $halt_waiting))")));
  EXPECT_EQ(std::get<Trapped>(run("(drop (call $broken))")).message, "broken: a bad pointer");
}

TEST_F(InstanceTest, traps_say_what_happened_and_where) {  // spec: C9
  struct Row {
    std::string_view body;
    std::string_view word;
  };
  for (const Row& row : {Row{"unreachable", "unreachable"}, Row{"(drop (i32.load (i32.const -4)))", "outside its memory"},
                         Row{"(drop (i32.div_s (i32.const 1) (i32.const 0)))", "divided"},
                         Row{"(drop (i32.div_s (i32.const 0x80000000) (i32.const -1)))", "overflowed"},
                         Row{"(drop (i32.trunc_f32_s (f32.const nan)))", "converted"}, Row{"call $main", "call stack"}}) {
    const Finish finish = run(std::string(row.body));
    const auto* trapped = std::get_if<Trapped>(&finish);
    ASSERT_NE(trapped, nullptr) << row.body;
    EXPECT_NE(trapped->message.find(row.word), std::string::npos) << trapped->message;
    ASSERT_FALSE(trapped->backtrace.empty());
    // Where the stack ran out isn't known to the byte.
    const std::string& place = trapped->backtrace.size() > 1 ? trapped->backtrace[1] : trapped->backtrace[0];
    EXPECT_NE(place.find("byte 0x"), std::string::npos) << place;
    EXPECT_LE(trapped->backtrace.size(), 33U);
  }
}

TEST_F(InstanceTest, a_trap_in_a_start_section_is_a_trap) {  // spec: C9
  EXPECT_TRUE(std::holds_alternative<Trapped>(run("", "(func $s unreachable) (start $s)")));
}

TEST_F(InstanceTest, host_functions_get_values_and_memory) {  // spec: F2
  EXPECT_TRUE(std::holds_alternative<Returned>(
      run("(drop (memory.grow (i32.const 2))) (if (i32.ne (call $give (i32.const 2)) (i32.const 42)) (then unreachable))")));
  EXPECT_EQ(host_.memory, 3U * 65536U);
  EXPECT_EQ(host_.given, 2U);
}

TEST_F(InstanceTest, memory_that_grew_between_two_calls_is_seen_as_it_is) {  // spec: F2
  EXPECT_TRUE(std::holds_alternative<Returned>(
      run("(drop (call $give (i32.const 1))) (drop (memory.grow (i32.const 2))) (drop (call $give (i32.const 2)))"
          "(if (i32.ne (i32.load8_u (i32.const 196607)) (i32.const 0x5a)) (then unreachable))")));
  EXPECT_EQ(host_.memory, 3U * 65536U);
  EXPECT_TRUE(std::holds_alternative<Returned>(
      run("(drop (call $wait (i64.const 1))) (drop (memory.grow (i32.const 9))) (drop (call $wait (i64.const 2)))")));
  EXPECT_EQ(host_.memory, 10U * 65536U);
}

TEST_F(InstanceTest, a_guest_at_the_end_of_its_stack_leaves_the_host_enough) {  // spec: C9
  for (const std::string_view call : {"$deep", "$deep_waiting"}) {
    host_.calls = 0;
    const Finish finish = run("call $down", "(func $down (drop (call " + std::string(call) + ")) call $down)");
    const auto* trapped = std::get_if<Trapped>(&finish);
    ASSERT_NE(trapped, nullptr) << call;
    EXPECT_NE(trapped->message.find("call stack"), std::string::npos) << trapped->message;
    EXPECT_GT(host_.calls, 1000) << call;
  }
}

TEST_F(InstanceTest, what_a_host_function_throws_ends_the_process_and_no_frame_of_the_engine) {
  for (const std::string_view call : {"$throws", "$throws_waiting"}) {
    auto instance = start("(drop (call " + std::string(call) + "))");
    // The compiler has threads, which a forked process lacks: it only runs what is compiled.
    EXPECT_DEATH(resume(*instance), "bad_alloc") << call;
  }
}

TEST_F(InstanceTest, a_start_section_can_call_the_host) {  // spec: M2
  EXPECT_TRUE(std::holds_alternative<Returned>(run("", "(func $s (drop (call $give (i32.const 7)))) (start $s)")));
  EXPECT_EQ(host_.given, 7U);
  EXPECT_EQ(host_.memory, 65536U);
}

TEST_F(InstanceTest, a_guest_stands_in_a_host_call_until_it_is_answered) {
  host_.waits_left = 3;
  auto instance = start("(if (i32.ne (call $wait (i64.const 0x900000000)) (i32.const 10)) (then unreachable))");
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(resume(*instance), Instance::State::kWaiting);
    EXPECT_EQ(instance->waits_for(), 0U);
  }
  ASSERT_EQ(resume(*instance), Instance::State::kFinished);
  EXPECT_TRUE(std::holds_alternative<Returned>(instance->finish()));
}

// Advances the epoch every millisecond, as a worker's ticker does.
class Ticking {
 public:
  explicit Ticking(const Engine& engine)
      : thread_([&engine](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            engine.tick();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}

 private:
  std::jthread thread_;
};

TEST_F(InstanceTest, a_guest_that_computes_yields_at_a_tick_and_ends_when_interrupted) {  // spec: L1, C12
  auto instance = start("(loop $l br $l)");
  const Ticking ticking(*engine_);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(resume(*instance), Instance::State::kYielded);
  instance->interrupt();
  ASSERT_EQ(resume(*instance), Instance::State::kFinished);
  const auto* interrupted = std::get_if<Interrupted>(&instance->finish());
  ASSERT_NE(interrupted, nullptr);
  EXPECT_FALSE(interrupted->backtrace.empty());
}

TEST_F(InstanceTest, ticks_while_others_have_their_turns_take_none_of_its_own) {
  auto fresh = start("(loop $l (br_if $l (i32.const 0)))");
  for (int i = 0; i < 5; ++i) engine_->tick();
  EXPECT_EQ(resume(*fresh), Instance::State::kFinished);
  auto waits = start("(drop (call $wait (i64.const 0))) (loop $l (br_if $l (i32.const 0)))");
  host_.waits_left = 1;
  ASSERT_EQ(resume(*waits), Instance::State::kWaiting);
  for (int i = 0; i < 5; ++i) engine_->tick();
  EXPECT_EQ(resume(*waits), Instance::State::kFinished);
}

constexpr std::string_view kLargeMemory = R"((memory (export "memory") 4096))";  // 256 MiB

TEST_F(InstanceTest, one_instruction_over_much_memory_yields_and_ends_when_interrupted) {  // spec: L1, C12
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
TEST_F(InstanceTest, one_instruction_over_much_memory_does_what_it_should) {  // spec: C1
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

TEST_F(InstanceTest, a_large_memory_is_in_huge_pages_where_there_are_any) {  // spec: C12
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

TEST_F(InstanceTest, host_calls_in_a_straight_line_give_the_turn_back) {  // spec: L1, C12
  // No loop and no function call: the engine never looks at the epoch.
  std::string calls;
  for (int i = 0; i < 200; ++i) calls += "(drop (call $slow (i64.const 0)))";
  auto instance = start(calls);
  std::jthread ticker([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      engine_->tick();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  int turns = 0;
  while (turns < 20 && resume(*instance) == Instance::State::kYielded) ++turns;
  EXPECT_EQ(turns, 20);
  instance->interrupt();
  ASSERT_EQ(resume(*instance), Instance::State::kFinished);
  EXPECT_TRUE(std::holds_alternative<Interrupted>(instance->finish()));
}

TEST_F(InstanceTest, a_guest_that_waits_ends_when_interrupted) {  // spec: L1
  host_.waits_left = 1000;
  auto instance = start("(drop (call $wait (i64.const 0)))");
  ASSERT_EQ(resume(*instance), Instance::State::kWaiting);
  instance->interrupt();
  ASSERT_EQ(resume(*instance), Instance::State::kFinished);
  EXPECT_TRUE(std::holds_alternative<Interrupted>(instance->finish()));
}

TEST_F(InstanceTest, a_guest_can_be_dropped_wherever_it_stands) {  // spec: C12
  host_.waits_left = 1000;
  auto waiting = start("(drop (call $wait (i64.const 0)))");
  ASSERT_EQ(resume(*waiting), Instance::State::kWaiting);
  waiting.reset();
  auto computing = start("(loop $l br $l)");
  {
    const Ticking ticking(*engine_);
    ASSERT_EQ(resume(*computing), Instance::State::kYielded);
  }
  computing.reset();
  auto untouched = start("");
  untouched.reset();
}

TEST_F(InstanceTest, nothing_of_an_instance_is_left_for_the_next) {  // spec: C1
  const std::string more = "(global $g (mut i32) (i32.const 0)) (table $t 4 funcref) (elem declare func $main)";
  const std::string body =
      "(if (i32.load (i32.const 40000)) (then unreachable)) (i32.store (i32.const 40000) (i32.const 7))"
      "(if (global.get $g) (then unreachable)) (global.set $g (i32.const 1))"
      "(if (i32.eqz (ref.is_null (table.get $t (i32.const 3)))) (then unreachable))"
      "(table.set $t (i32.const 3) (ref.func $main))"
      "(drop (memory.grow (i32.const 100))) (i32.store (i32.const 6000000) (i32.const 9))";
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(std::holds_alternative<Returned>(run(body, more)));
}

TEST_F(InstanceTest, growth_past_the_limits_answers_minus_one_and_is_noted) {  // spec: L2
  auto instance = start(
      "(if (i32.ne (memory.grow (i32.const 8191)) (i32.const 1)) (then unreachable))"
      "(if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable))");
  ASSERT_EQ(resume(*instance), Instance::State::kFinished);
  EXPECT_TRUE(std::holds_alternative<Returned>(instance->finish()));
  EXPECT_TRUE(instance->growth_refused());
  EXPECT_EQ(instance->memory_bytes(), 512ULL << 20U);
}

TEST_F(InstanceTest, growth_past_the_modules_own_maximum_is_not_ours) {  // spec: L2, C9
  auto instance = start(
      "(local $i i32) (loop $l"
      "  (if (i32.ne (table.grow $t (ref.null func) (i32.const 900000)) (i32.const -1)) (then unreachable))"
      "  (if (i32.ne (memory.grow (i32.const 4000)) (i32.const -1)) (then unreachable))"
      "  (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 100))))"
      "(if (i32.ne (table.grow $t (ref.null func) (i32.const 1)) (i32.const 1)) (then unreachable))"
      "(if (i32.ne (memory.grow (i32.const 1)) (i32.const 1)) (then unreachable))",
      "(table $t 1 2 funcref)", "(memory (export \"memory\") 1 2)");
  ASSERT_EQ(resume(*instance), Instance::State::kFinished);
  EXPECT_TRUE(std::holds_alternative<Returned>(instance->finish()));
  EXPECT_FALSE(instance->growth_refused());
  EXPECT_EQ(instance->memory_bytes(), 2U * 65536U);
}

TEST_F(InstanceTest, tables_are_counted_together) {  // spec: L2
  auto instance = start(
      "(if (i32.ne (table.grow $a (ref.null func) (i32.const 599999)) (i32.const 1)) (then unreachable))"
      "(if (i32.ne (table.grow $b (ref.null func) (i32.const 400000)) (i32.const -1)) (then unreachable))"
      "(if (i32.ne (table.grow $b (ref.null func) (i32.const 399999)) (i32.const 1)) (then unreachable))",
      "(table $a 1 funcref) (table $b 1 funcref)");
  ASSERT_EQ(resume(*instance), Instance::State::kFinished);
  EXPECT_TRUE(std::holds_alternative<Returned>(instance->finish()));
  EXPECT_TRUE(instance->growth_refused());
}

TEST_F(InstanceTest, a_full_pool_is_said_and_heals) {
  host_.waits_left = 1000;
  std::vector<std::unique_ptr<Instance>> held;
  for (int i = 0; i < 4; ++i) {
    held.push_back(start("(drop (call $wait (i64.const 0)))"));
    ASSERT_EQ(resume(*held.back()), Instance::State::kWaiting);
  }
  auto one_more = start("");
  ASSERT_EQ(resume(*one_more), Instance::State::kFinished);
  EXPECT_TRUE(std::holds_alternative<NotStarted>(one_more->finish()));
  held.pop_back();
  EXPECT_TRUE(std::holds_alternative<Returned>(run("")));
}

TEST_F(InstanceTest, a_pool_full_of_guests_with_references_has_room_for_their_heaps) {  // spec: M4
  host_.waits_left = 1000;
  std::vector<std::unique_ptr<Instance>> held;
  for (int i = 0; i < 4; ++i) {
    held.push_back(start("(drop (call $wait (i64.const 0)))", "(table $t 3 externref)"));
    ASSERT_EQ(resume(*held.back()), Instance::State::kWaiting);
    EXPECT_EQ(held.back()->memory_bytes(), 65536U) << "the heap is no linear memory";
  }
}

TEST_F(InstanceTest, damaged_or_foreign_bytes_are_refused) {
  Fd file(memfd_create("module", MFD_CLOEXEC));
  ASSERT_EQ(write(file.get(), "not a module", 12), 12);
  const auto module = LinkedModule::load(*engine_, std::move(file), {std::span<const abi::Import>(kTable)});
  ASSERT_FALSE(module.has_value());
  EXPECT_EQ(module.error().code, Code::kCorrupt);
}

TEST_F(InstanceTest, a_module_that_wasmtime_refuses_is_an_error_not_an_abort) {  // spec: M6
  Fd file(memfd_create("module", MFD_CLOEXEC));
  const auto compiled = compile(*compiler_, std::vector<std::byte>(100, std::byte{7}), file.get());
  ASSERT_FALSE(compiled.has_value());
  EXPECT_EQ(compiled.error().code, Code::kInvalid);
}

TEST_F(InstanceTest, a_branch_table_that_is_too_large_is_refused) {  // spec: M6
  // Targets past what the validator takes, and counts that wrap where 4 or so is added.
  const auto module = [](std::string_view count, size_t targets) {
    const std::string code = std::string("\x00\x02\x40\x41\x00\x0e", 6) + std::string(count) + std::string(targets + 1, '\0') +
                             std::string("\x0b\x0b", 2);
    const auto size = [](size_t value) {
      std::string leb;
      for (; value >= 0x80; value >>= 7U) leb += static_cast<char>(0x80U | (value & 0x7fU));
      return leb + static_cast<char>(value);
    };
    const std::string body = size(1) + size(code.size()) + code;
    return std::string("\0asm\1\0\0\0\1\4\1\x60\0\0\3\2\1\0\x0a", 19) + size(body.size()) + body;
  };
  const auto compiled = [this](const std::string& bytes) {
    const Fd file(memfd_create("module", MFD_CLOEXEC));
    return compile(*compiler_, std::as_bytes(std::span(bytes)), file.get());
  };
  EXPECT_TRUE(compiled(module("\x03", 3))) << compiled(module("\x03", 3)).error().message;
  EXPECT_FALSE(compiled(module("\xc0\x84\x3d", 1'000'000)));
  EXPECT_FALSE(compiled(module("\xff\xff\xff\xff\x0f", 3)));
  EXPECT_FALSE(compiled(module("\xfc\xff\xff\xff\x0f", 3)));
}

TEST_F(InstanceTest, a_module_that_becomes_too_large_is_not_written) {  // spec: M6
  const Fd file(memfd_create("module", MFD_CLOEXEC));
  const std::vector<std::byte> wasm = wat("(module (func (export \"f\")))");
  const auto compiled = compile(*compiler_, wasm, file.get(), 100);
  ASSERT_FALSE(compiled.has_value());
  EXPECT_EQ(compiled.error().code, Code::kTooLarge);
  EXPECT_TRUE(
      compiled.error().message.ends_with(" bytes of machine code, more than the 100 that one may have"))
      << compiled.error().message;
  EXPECT_EQ(lseek(file.get(), 0, SEEK_END), 0);
  EXPECT_TRUE(compile(*compiler_, wasm, file.get()));
}

}  // namespace
}  // namespace subako::engine
