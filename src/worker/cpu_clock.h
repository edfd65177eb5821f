// CPU time of the worker's thread, cheap enough to be read twice a turn. The kernel's own clock of a thread is a system call that
// costs a microsecond, as much as all else that a short turn needs. It is asked only where the last asking is over 100 µs ago;
// within these the thread is taken to have run all the time. So each difference is right to 100 µs, and so is each sum of turns
// that follow each other.
#pragma once

#include "base/clock.h"

namespace subako::worker {

class CpuClock {
 public:
  // To be read on one thread only.
  explicit CpuClock(const Clock& clock) : clock_(clock) {}

  [[nodiscard]] Nanoseconds now();

 private:
  const Clock& clock_;
  Nanoseconds asked_at_ = 0;  // monotonic; 0: never
  Nanoseconds asked_ = 0;     // what the kernel said then
  Nanoseconds last_ = 0;      // never goes back
};

}  // namespace subako::worker
