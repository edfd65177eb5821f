// CPU time of the turns of the worker's thread. The kernel's own clock of a thread is a system call that costs a microsecond, as
// much as all else that a short turn needs. So a turn of at most 100 µs is taken to have run all the time, and the kernel is asked
// at the end of longer ones, and at the beginning of one where the last asking is over 100 µs ago: each turn is right to 100 µs, and
// never longer than it took.
#pragma once

#include "base/clock.h"

namespace subako::worker {

class CpuClock {
 public:
  // To be used on one thread only.
  explicit CpuClock(const Clock& clock) : clock_(clock) {}

  void begin_turn();
  // What the thread has computed since begin_turn().
  [[nodiscard]] Nanoseconds end_turn();

 private:
  void ask(Nanoseconds at);

  const Clock& clock_;
  Nanoseconds asked_at_ = 0;  // monotonic; 0: never
  Nanoseconds asked_ = 0;     // what the kernel said then
  Nanoseconds begun_at_ = 0;
  Nanoseconds begun_ = 0;  // CPU time at the beginning, as far as is known
};

}  // namespace subako::worker
