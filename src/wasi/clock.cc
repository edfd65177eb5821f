#include "base/result.h"
#include "wasi/functions.h"

namespace subako::wasi {

namespace {

// CPU time is no business of the guest's: it would tell of its neighbours.
Try<Nanoseconds> read(const Clock& clock, ClockId id) {
  switch (id) {
    case ClockId::kRealtime:
      return clock.realtime();
    case ClockId::kMonotonic:
      return clock.monotonic();
    default:
      return refuse(Errno::kInval);
  }
}

}  // namespace

Reply clock_res_get(Host& host, ClockId id, OutPtr<uint64_t> nanoseconds) {
  TRY_VOID(read(host.clock(), id));
  nanoseconds.set(1);
  return {};
}

Reply clock_time_get(Host& host, ClockId id, uint64_t, OutPtr<uint64_t> nanoseconds) {
  TRY(const Nanoseconds now, read(host.clock(), id));
  nanoseconds.set(static_cast<uint64_t>(now));
  return {};
}

}  // namespace subako::wasi
