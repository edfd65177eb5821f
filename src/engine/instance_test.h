// For tests: guests written as text, with host functions that do one thing each, so that every way out of a guest can be had.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <chrono>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/compile.h"
#include "engine/instance.h"
#include "support/wat.h"

namespace subako::engine {

struct Host {
  int waits_left = 0;
  int calls = 0;
  uint32_t given = 0;
  size_t memory = 0;
  const Engine* engine = nullptr;
};

inline abi::Answer<uint32_t> give(void* host, abi::GuestMemory memory, std::span<const uint64_t> raw) {
  auto& h = *static_cast<Host*>(host);
  ++h.calls;
  h.given = static_cast<uint32_t>(raw[0]);
  h.memory = memory.size();
  // Its last byte, as the host sees it.
  if (auto last = memory.bytes(memory.size() - 1, 1)) (*last)[0] = std::byte{0x5a};
  return 40U + h.given;
}
inline abi::Answer<uint32_t> wait(void* host, abi::GuestMemory memory, std::span<const uint64_t> raw) {
  auto& h = *static_cast<Host*>(host);
  if (h.waits_left-- > 0) return abi::stop(abi::Wait{});
  h.memory = memory.size();
  return static_cast<uint32_t>(raw[0] >> 32U) + 1U;
}
inline abi::Answer<uint32_t> slow(void*, abi::GuestMemory, std::span<const uint64_t>) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return 0U;
}
inline abi::Answer<uint32_t> leave(void*, abi::GuestMemory, std::span<const uint64_t> raw) {
  return abi::stop(abi::Exit{static_cast<uint32_t>(raw[0])});
}
inline abi::Answer<uint32_t> halt(void*, abi::GuestMemory, std::span<const uint64_t>) { return abi::stop(abi::Halt{}); }
inline abi::Answer<uint32_t> broken(void*, abi::GuestMemory, std::span<const uint64_t>) {
  return abi::stop(abi::Trap{"broken: a bad pointer"});
}

inline abi::Answer<uint32_t> throws(void*, abi::GuestMemory, std::span<const uint64_t>) { throw std::bad_alloc(); }
inline abi::Answer<uint32_t> tick(void* host, abi::GuestMemory, std::span<const uint64_t>) {
  static_cast<Host*>(host)->engine->tick();
  return 0U;
}
// As much stack as no function of ours takes.
inline abi::Answer<uint32_t> deep(void* host, abi::GuestMemory, std::span<const uint64_t>) {
  std::array<volatile char, 256 * 1024> room;
  for (size_t i = 0; i < room.size(); i += 4096) room[i] = 'x';
  ++static_cast<Host*>(host)->calls;
  return 0U;
}

inline constexpr abi::FunctionType kOne{{abi::ValueType::kI32}, 1, true};
inline constexpr abi::FunctionType kLong{{abi::ValueType::kI64}, 1, true};
inline constexpr abi::FunctionType kNone{{}, 0, false};
inline constexpr abi::FunctionType kAnswers{{}, 0, true};
inline constexpr abi::FunctionType kOneNone{{abi::ValueType::kI32}, 1, false};
inline constexpr abi::Import kTable[] = {
    {"h", "broken", kAnswers, true, broken},     {"h", "deep", kAnswers, false, deep},
    {"h", "deep_waiting", kAnswers, true, deep}, {"h", "give", kOne, false, give},
    {"h", "halt", kNone, false, halt},           {"h", "halt_waiting", kAnswers, true, halt},
    {"h", "leave", kOneNone, false, leave},      {"h", "slow", kLong, true, slow},
    {"h", "throws", kAnswers, false, throws},    {"h", "throws_waiting", kAnswers, true, throws},
    {"h", "tick", kNone, false, tick},           {"h", "wait", kLong, true, wait}};

inline constexpr std::string_view kImports = R"(
  (import "h" "broken" (func $broken (result i32))) (import "h" "give" (func $give (param i32) (result i32)))
  (import "h" "deep" (func $deep (result i32))) (import "h" "deep_waiting" (func $deep_waiting (result i32)))
  (import "h" "throws" (func $throws (result i32))) (import "h" "throws_waiting" (func $throws_waiting (result i32)))
  (import "h" "halt" (func $halt)) (import "h" "halt_waiting" (func $halt_waiting (result i32)))
  (import "h" "leave" (func $leave (param i32))) (import "h" "slow" (func $slow (param i64) (result i32)))
  (import "h" "tick" (func $tick)) (import "h" "wait" (func $wait (param i64) (result i32))))";
inline constexpr std::string_view kMemory = R"((memory (export "memory") 1))";

class InstanceTest : public ::testing::Test {
 protected:
  InstanceTest() { host_.engine = &*engine_; }

  std::unique_ptr<Instance> start(const std::string& start_body, const std::string& more = "",
                                  std::string_view memory = kMemory) {
    const std::string text = "(module " + std::string(kImports) + std::string(memory) + more + "(func $main (export \"_start\") " + start_body + "))";
    Fd file(memfd_create("module", MFD_CLOEXEC));
    auto compiled = compile(*compiler_, testing::wat(text), file.get());
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

}  // namespace subako::engine
