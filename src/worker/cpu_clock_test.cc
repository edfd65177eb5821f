#include "worker/cpu_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <thread>

namespace subako::worker {

namespace {

using namespace std::chrono_literals;

Nanoseconds thread_cpu() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// What the thread computes until it has used `cpu`.
void compute(Nanoseconds cpu) {
  const Nanoseconds begin = thread_cpu();
  while (thread_cpu() - begin < cpu) {
  }
}

constexpr Nanoseconds kBound = 200'000;  // of two readings

// spec: P8
TEST(CpuClock, CountsWhatTheThreadComputes) {
  const SystemClock clock;
  CpuClock cpu(clock);
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds before = thread_cpu();
    const Nanoseconds begin = cpu.now();
    compute(3'000'000);
    const Nanoseconds said = cpu.now() - begin;
    const Nanoseconds used = thread_cpu() - before;
    EXPECT_GE(said, 3'000'000 - kBound);
    EXPECT_LE(said, used + kBound);
  }
}

TEST(CpuClock, DoesNotCountWaits) {
  const SystemClock clock;
  CpuClock cpu(clock);
  const Nanoseconds begin = cpu.now();
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(2ms);
    (void)cpu.now();
  }
  EXPECT_LT(cpu.now() - begin, 20'000'000);
}

TEST(CpuClock, NeverGoesBack) {
  const SystemClock clock;
  CpuClock cpu(clock);
  Nanoseconds last = cpu.now();
  for (int i = 0; i < 2000; ++i) {
    if (i % 7 == 0) std::this_thread::sleep_for(50us);
    const Nanoseconds now = cpu.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

// Many short turns, none of which is long enough to ask the kernel by itself.
TEST(CpuClock, AddsUpShortTurns) {
  const SystemClock clock;
  CpuClock cpu(clock);
  const Nanoseconds before = thread_cpu();
  Nanoseconds sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const Nanoseconds begin = cpu.now();
    compute(10'000);
    sum += cpu.now() - begin;
  }
  const Nanoseconds used = thread_cpu() - before;
  EXPECT_GE(sum, used / 2);
  EXPECT_LE(sum, used * 2);
}

}  // namespace

}  // namespace subako::worker
