#include "engine/instance_test.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace subako::engine {
namespace {

using testing::wat;

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
