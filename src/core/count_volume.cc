#include "core/count_volume.h"

#include <array>
#include <atomic>
#include <chrono>
#include <span>

#include "core/worker_link.h"
#include "volume/count.h"

namespace subako::core {

namespace {

constexpr std::chrono::milliseconds kLookAgain{5};

// Who counts; when it is done, however it is, the others look again.
class Counting {
 public:
  Counting(SessionVolume& volume, Signal& counted) : volume_(volume), counted_(counted) { volume_.counting = true; }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  ~Counting() {
    volume_.counting = false;
    counted_.notify();
  }

 private:
  SessionVolume& volume_;
  Signal& counted_;
};

Result<volume::Counts> count(const SessionVolume& volume, const std::function<bool()>& give_up) {
  const std::array trees{volume.tmp().get(), volume.data().get()};
  return volume::count_trees(std::span(trees).first(volume.data().valid() ? 2 : 1), give_up);
}

}  // namespace

Task<Result<bool>> count_volume(OffLoop& off_loop, Signal& counted, std::shared_ptr<SessionVolume> volume,
                                std::shared_ptr<WorkerLink> worker, CallWatch* watch) {
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  const CallWatchBinding binding(watch, [stop, &counted] {
    *stop = true;
    counted.notify();
  });
  bool told = watch == nullptr;
  while (!volume->counts() || volume->stays_elsewhere(*worker)) {
    if (watch != nullptr && watch->cancelled()) co_return false;
    if (off_loop.stopped()) co_return fail(Code::kUnavailable, "subako is shutting down");
    if (volume->counts()) {  // a cancelled run's last step in the kernel; seldom, and mostly a few ms
      co_await counted.wait_until(now() + kLookAgain);
      continue;
    }
    if (!told) {
      told = true;
      watch->counting_volume();
      continue;
    }
    if (volume->counting) {
      co_await counted.wait_until(Time::max());
      continue;
    }
    const Counting counting(*volume, counted);
    if (const auto dead = volume->last_holder()) co_await dead->gone();
    // Named, as g++ 12 destroys a lambda that owns something twice where it is made within a co_await.
    std::function<Result<volume::Counts>(const GiveUp&)> work = [volume, stop](const GiveUp& give_up) {
      return count(*volume, [&] { return give_up || *stop; });
    };
    const auto counts = co_await off_loop.run<Result<volume::Counts>>(OffLoop::kMayWait, std::move(work));
    if (counts) {
      volume->counted(*counts);
    } else if (counts.error().code != Code::kCancelled) {
      co_return std::unexpected(counts.error());
    }
  }
  co_return true;
}

}  // namespace subako::core
