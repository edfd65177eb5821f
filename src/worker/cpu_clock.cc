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

Nanoseconds CpuClock::now() {
  const Nanoseconds at = clock_.monotonic();
  if (asked_at_ == 0 || at - asked_at_ > kTrusted) {
    asked_at_ = at;
    asked_ = thread_cpu();
  }
  last_ = std::max(last_, asked_ + (at - asked_at_));
  return last_;
}

}  // namespace subako::worker
