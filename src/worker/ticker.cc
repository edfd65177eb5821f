#include "worker/ticker.h"

#include <utility>

namespace subako::worker {

namespace {

constexpr int kIdlePeriodsBeforeSleep = 50;

}  // namespace

Ticker::Ticker(std::function<void()> tick, std::chrono::microseconds period)
    : tick_(std::move(tick)), period_(period), thread_([this] { run(); }) {}

Ticker::~Ticker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Ticker::set_active(bool active) {
  active_.store(active);
  if (active && asleep_.load()) {
    const std::lock_guard lock(mutex_);
    wake_.notify_one();
  }
}

void Ticker::run() {
  std::unique_lock lock(mutex_);
  int idle = 0;
  while (!stop_) {
    if (idle < kIdlePeriodsBeforeSleep) {
      wake_.wait_for(lock, period_, [this] { return stop_; });
    } else {
      // asleep_ is set before active_ is looked at, and set_active() does the reverse: one of the two sees the other.
      asleep_.store(true);
      wake_.wait(lock, [this] { return stop_ || active_.load(); });
      asleep_.store(false);
    }
    if (active_.load()) {
      idle = 0;
      tick_();
    } else {
      ++idle;
    }
  }
}

}  // namespace subako::worker
