#include "worker/cpu_clock.h"

#include <algorithm>
#include <ctime>

namespace subako::worker {

namespace {

constexpr Nanoseconds kTrusted = 100'000;

Nanoseconds thread_cpu() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

void CpuClock::ask(Nanoseconds at) {
  asked_at_ = at;
  asked_ = thread_cpu();
}

void CpuClock::begin_turn() {
  begun_at_ = clock_.monotonic();
  if (asked_at_ == 0 || begun_at_ - asked_at_ > kTrusted) ask(begun_at_);
  begun_ = asked_ + (begun_at_ - asked_at_);
}

Nanoseconds CpuClock::end_turn() {
  const Nanoseconds at = clock_.monotonic();
  const Nanoseconds took = at - begun_at_;
  if (took <= kTrusted) return took;
  ask(at);
  return std::clamp<Nanoseconds>(asked_ - begun_, 0, took);
}

}  // namespace subako::worker
