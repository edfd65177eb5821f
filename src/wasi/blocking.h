// Work that stands still in the kernel for long, such as syncing or freeing a big file (336 and 67 ms for 1 GiB), and
// so isn't done on the thread that runs guests (spec: C12). The guest waits on its fiber meanwhile.
//
// Names are changed at once, by the thread that runs the guest; only what a removed name leaves to be freed goes here. So of a
// guest that is ended meanwhile nothing goes on but a sync, or the truncation that it had begun.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>

namespace subako::wasi {

// One piece of such work. It owns all that it needs: whoever asked for it may be gone before it is done.
class Task {
 public:
  // `work` answers the kernel's error, or none.
  explicit Task(std::move_only_function<std::errc()> work) : work_(std::move(work)) {}

  // Called once, from any thread. What the work owns goes with it there: closing can be the very thing that takes long.
  void run() {
    if (!abandoned_.load()) result_ = work_();
    work_ = nullptr;
    done_.store(true, std::memory_order_release);
  }
  // Nobody waits for it any more: where it hasn't begun, it won't.
  void abandon() { abandoned_.store(true); }

  [[nodiscard]] bool done() const { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] std::errc result() const { return result_; }  // once it is done

 private:
  std::move_only_function<std::errc()> work_;
  std::errc result_{};
  std::atomic<bool> abandoned_ = false;
  std::atomic<bool> done_ = false;
};

// Where a guest's tasks go.
class Blocking {
 public:
  virtual ~Blocking() = default;
  // Sees to it that the task is run, and that its guest then gets another turn.
  virtual void start(std::shared_ptr<Task> task) = 0;
};

// Does it on the spot, for who has nothing else to do meanwhile.
class OnTheSpot final : public Blocking {
 public:
  void start(std::shared_ptr<Task> task) override { task->run(); }
};

}  // namespace subako::wasi
