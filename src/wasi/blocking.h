// Work that stands still in the kernel for long, such as syncing or freeing a big file (336 and 67 ms for 1 GiB), and
// so isn't done on the thread that runs guests (spec: C12). The guest waits on its fiber meanwhile.
//
// Names are changed at once, by the thread that runs the guest; only what a removed name leaves to be freed goes here. So of a
// guest that is ended meanwhile nothing goes on but that, a sync, and one step of a truncation.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

namespace subako::wasi {

// One piece of such work. It uses the guest's descriptors: the guest can't close them, as it stands still, and if it goes first
// they are left to the task.
class BlockingTask {
 public:
  // Answers the kernel's error, or none. Work of several steps ends between two where it isn't wanted any more.
  using Wanted = std::atomic<bool>;
  using Work = std::move_only_function<std::errc(const Wanted&)>;
  explicit BlockingTask(Work work) : work_(std::move(work)) {}

  // Called once, from any thread. What the work owns goes with it there: closing can be the very thing that takes long.
  void run();

  [[nodiscard]] bool done() const;
  [[nodiscard]] std::errc result() const { return result_; }  // once it is done

  // The guest goes. What hasn't begun won't begin. True where it has begun and isn't done.
  bool give_up();
  // As give_up(); where it is true it takes `kept`, what it uses, and lets go of it when it is done.
  bool abandon(std::shared_ptr<void>& kept);

 private:
  Work work_;
  std::errc result_{};
  Wanted wanted_ = true;
  mutable std::mutex mutex_;  // of what follows
  bool begun_ = false;
  bool done_ = false;
  std::shared_ptr<void> kept_;
};

// Where a guest's tasks go.
class Blocking {
 public:
  virtual ~Blocking() = default;
  // Sees to it that the task is run, and that its guest then gets another turn.
  virtual void hand_over(std::shared_ptr<BlockingTask> task) = 0;
};

}  // namespace subako::wasi
