#include "wasi/blocking.h"

namespace subako::wasi {

void BlockingTask::run() {
  {
    const std::lock_guard lock(mutex_);
    begun_ = wanted_;
  }
  if (begun_) result_ = work_(wanted_);
  work_ = nullptr;
  std::shared_ptr<void> kept;  // goes last, and without the lock
  const std::lock_guard lock(mutex_);
  done_ = true;
  kept.swap(kept_);
}

bool BlockingTask::done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

bool BlockingTask::give_up() {
  const std::lock_guard lock(mutex_);
  wanted_ = false;
  return begun_ && !done_;
}

bool BlockingTask::abandon(std::shared_ptr<void>& kept) {
  const std::lock_guard lock(mutex_);
  wanted_ = false;
  if (!begun_ || done_) return false;
  kept_ = std::move(kept);
  return true;
}

}  // namespace subako::wasi
