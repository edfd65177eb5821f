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

constexpr Nanoseconds kBound = 200'000;  // of a turn

// spec: P8
TEST(CpuClock, CountsWhatTheThreadComputes) {
  const SystemClock clock;
  CpuClock cpu(clock);
  for (int i = 0; i < 20; ++i) {
    const Nanoseconds before = thread_cpu();
    cpu.begin_turn();
    compute(3'000'000);
    const Nanoseconds said = cpu.end_turn();
    const Nanoseconds used = thread_cpu() - before;
    EXPECT_GE(said, 3'000'000 - kBound);
    EXPECT_LE(said, used + kBound);
  }
}

TEST(CpuClock, DoesNotCountWaits) {
  const SystemClock clock;
  CpuClock cpu(clock);
  Nanoseconds sum = 0;
  for (int i = 0; i < 20; ++i) {
    cpu.begin_turn();
    std::this_thread::sleep_for(2ms);
    sum += cpu.end_turn();
  }
  EXPECT_LT(sum, 20'000'000);
}

// A host that holds the thread still can't make a turn negative, nor longer than it took.
TEST(CpuClock, StaysWithinTheTimeThatATurnTook) {
  const SystemClock clock;
  CpuClock cpu(clock);
  for (int i = 0; i < 2000; ++i) {
    const Nanoseconds before = clock.monotonic();
    cpu.begin_turn();
    if (i % 7 == 0) std::this_thread::sleep_for(50us);
    const Nanoseconds said = cpu.end_turn();
    ASSERT_GE(said, 0);
    ASSERT_LE(said, clock.monotonic() - before);
  }
}

// Short turns, none of which is long enough to ask the kernel by itself, and waits between them that aren't theirs.
TEST(CpuClock, AddsUpShortTurnsWithGaps) {
  const SystemClock clock;
  CpuClock cpu(clock);
  for (const auto gap : {0us, 30us, 300us}) {
    Nanoseconds sum = 0;
    Nanoseconds used = 0;
    for (int i = 0; i < 500; ++i) {
      const Nanoseconds before = thread_cpu();
      cpu.begin_turn();
      compute(20'000);
      sum += cpu.end_turn();
      used += thread_cpu() - before;
      if (gap > 0us) std::this_thread::sleep_for(gap);
    }
    EXPECT_GE(sum, used / 2) << gap.count();
    EXPECT_LE(sum, used * 3 / 2) << gap.count();
  }
}

}  // namespace

}  // namespace subako::worker
