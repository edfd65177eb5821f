#include "base/clock.h"

#include <ctime>

namespace subako {

namespace {

Nanoseconds read(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<Nanoseconds>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

Nanoseconds SystemClock::monotonic() const { return read(CLOCK_MONOTONIC); }
Nanoseconds SystemClock::realtime() const { return read(CLOCK_REALTIME); }

}  // namespace subako
