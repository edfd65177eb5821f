// Waiting (spec: F8, C12). Events in the order of their subscriptions; deadlines are of the monotonic clock
// from the first turn on, so that neither a changed wall clock nor coming back early moves them.
#include <sys/stat.h>

#include <cerrno>
#include <limits>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "wasi/functions.h"

namespace subako::wasi {

namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

Nanoseconds later(Nanoseconds from, uint64_t by) {
  const uint64_t room = static_cast<uint64_t>(kNever - from);
  return by > room ? kNever : from + static_cast<Nanoseconds>(by);
}

Try<Nanoseconds> deadline_of(const Subscription& clock, const Progress& began) {
  if (!has_only(clock.flags, ClockFlags::kAll)) return refuse(Errno::kInval);
  const auto id = static_cast<ClockId>(clock.clock_or_fd);
  if (id != ClockId::kRealtime && id != ClockId::kMonotonic) return refuse(Errno::kInval);
  if (!has(clock.flags, ClockFlags::kAbstime)) return later(began.began_monotonic, clock.timeout);
  if (id == ClockId::kMonotonic) return later(0, clock.timeout);
  const auto now = static_cast<uint64_t>(began.began_realtime);
  return later(began.began_monotonic, clock.timeout > now ? clock.timeout - now : 0);
}

Try<uint64_t> bytes_to_read(const File& file) {
  struct stat now{};
  if (::fstat(file.fd.get(), &now) != 0) return refuse(last_error());
  const auto size = static_cast<uint64_t>(now.st_size);
  return size > file.offset ? size - file.offset : 0;
}

// None: not ready. A bad descriptor fails the whole call, as on the reference host.
Try<std::optional<Event>> event_of_fd(Host& host, const Subscription& subscription, EventType type) {
  const bool reads = type == EventType::kFdRead;
  const auto fd = static_cast<FdNumber>(subscription.clock_or_fd);
  TRY_VOID(host.descriptor(fd, reads ? Rights::kFdRead : Rights::kFdWrite));
  TRY(Descriptor * found, host.descriptor(fd, Rights::kPollFdReadwrite));
  Event event{.userdata = subscription.userdata, .type = type};
  if (!reads) {
    event.bytes = limits::kHostCallBytes;
  } else if (const File* file = found->file()) {
    TRY(event.bytes, bytes_to_read(*file));
  } else {
    event.bytes = host.stdio().stdin_available();
    const bool closed = host.stdio().stdin_closed();
    if (event.bytes == 0 && !closed) return std::nullopt;
    if (event.bytes == 0) event.flags = EventFlags::kHangup;
  }
  return event;
}

// None: not yet, and `wake` says what it waits for.
Try<std::optional<Event>> event_of(Host& host, const Subscription& one, const Progress& began,
                                   Nanoseconds now, Wake& wake) {
  if (one.tag > static_cast<uint8_t>(EventType::kFdWrite)) return refuse(Errno::kInval);
  const auto type = static_cast<EventType>(one.tag);
  if (type != EventType::kClock) {
    TRY(const auto event, event_of_fd(host, one, type));
    if (!event) wake.stdin = true;
    return event;
  }
  TRY(const Nanoseconds deadline, deadline_of(one, began));
  if (deadline <= now) return Event{.userdata = one.userdata, .type = type};
  wake.at = std::min(deadline, wake.at.value_or(kNever));
  return std::nullopt;
}

struct Round {
  std::vector<Event> happened;
  Wake wake;
};

// The events are written when all is known: a call that fails writes none, and they may lie over the subscriptions.
Try<Round> look(Host& host, const GuestArray<Subscription>& subscriptions, const Progress& began) {
  const Nanoseconds now = host.clock().monotonic();
  Round round;
  for (size_t i = 0; i < subscriptions.size(); ++i) {
    TRY(const auto event, event_of(host, subscriptions.get(i), began, now, round.wake));
    if (event) round.happened.push_back(*event);
  }
  return round;
}

}  // namespace

Reply poll_oneoff(Host& host, GuestMemory memory, uint32_t subscriptions, uint32_t events, uint32_t count,
                  OutPtr<uint32_t> happened) {
  Progress progress = host.take_progress();
  if (count == 0) return refuse(Errno::kInval);
  TRY(const auto in, GuestArray<Subscription>::take(memory, subscriptions, count));
  TRY(const auto out, GuestArray<Event>::take(memory, events, count));
  if (count > limits::kPollSubscriptions) return refuse(Errno::kNoMem);
  if (!progress.begun) {
    progress.begun = true;
    progress.began_monotonic = host.clock().monotonic();
    progress.began_realtime = host.clock().realtime();
  }
  TRY(const Round round, look(host, in, progress));
  if (round.happened.empty()) return refuse(host.wait(round.wake, progress));
  for (size_t i = 0; i < round.happened.size(); ++i) out.set(i, round.happened[i]);
  happened.set(static_cast<uint32_t>(round.happened.size()));
  return {};
}

// One turn for everybody else.
Reply sched_yield(Host& host) {
  Progress progress = host.take_progress();
  if (progress.begun) return {};
  progress.begun = true;
  return refuse(host.wait({.at = std::nullopt, .stdin = false, .now = true}, progress));
}

}  // namespace subako::wasi
