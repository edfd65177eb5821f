#include "worker/blocking_threads.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace subako::worker {

Result<std::unique_ptr<BlockingThreads>> BlockingThreads::create(size_t most) {
  Fd signal(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!signal.valid()) return std::unexpected(system_error("cannot make an event descriptor", errno));
  return std::unique_ptr<BlockingThreads>(new BlockingThreads(most, std::move(signal)));
}

BlockingThreads::~BlockingThreads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    for (const Job& job : queue_) {
      std::shared_ptr<void> nothing;
      (void)job.task->abandon(nothing);
    }
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void BlockingThreads::hand_over(uint64_t run, std::shared_ptr<wasi::BlockingTask> task) {
  {
    const std::lock_guard lock(mutex_);
    if (idle_ <= queue_.size() && threads_.size() < most_) add_thread();
    if (!threads_.empty()) {
      ++pending_[run];
      queue_.push_back({run, std::move(task)});
      wake_.notify_one();
      return;
    }
  }
  task->run();
}

// With mutex_ held.
void BlockingThreads::add_thread() {
  try {
    threads_.emplace_back([this] { serve(); });
    ++idle_;
  } catch (const std::system_error&) {
    // The machine gives no more threads: those that there are must do.
  }
}

std::vector<uint64_t> BlockingThreads::take_done() {
  uint64_t count = 0;
  (void)!::read(done_signal_.get(), &count, sizeof count);
  std::vector<uint64_t> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
  }
  for (const uint64_t run : done) {
    if (const auto found = pending_.find(run); --found->second == 0) pending_.erase(found);
  }
  return done;
}

void BlockingThreads::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Job job = std::move(queue_.front());
    queue_.pop_front();
    --idle_;
    lock.unlock();
    job.task->run();
    lock.lock();
    ++idle_;
    done_.push_back(job.run);
    const uint64_t one = 1;
    (void)!::write(done_signal_.get(), &one, sizeof one);
  }
}

}  // namespace subako::worker
