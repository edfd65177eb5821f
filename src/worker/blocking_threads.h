// The threads of a worker that stand still in the kernel, so that its loop never does (spec: C12): syncing, freeing and truncating
// big files. Each does one guest's task at a time; there are as many as are needed, up to a few, and none until the first task.
// More than one, so that whoever syncs much doesn't hold up whoever syncs little.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "wasi/blocking.h"

namespace subako::worker {

class BlockingThreads {
 public:
  [[nodiscard]] static Result<std::unique_ptr<BlockingThreads>> create(size_t most);
  // Waits for what is under way in the kernel.
  ~BlockingThreads();
  BlockingThreads(const BlockingThreads&) = delete;
  BlockingThreads& operator=(const BlockingThreads&) = delete;

  // `run`: who gets another turn when it is done. Where not even one thread can be started it is done on the spot.
  void hand_over(uint64_t run, std::shared_ptr<wasi::BlockingTask> task);

  [[nodiscard]] int readable() const { return done_signal_.get(); }  // poll(2) it: something is done
  // The runs whose tasks are done since the last asking.
  [[nodiscard]] std::vector<uint64_t> take_done();
  // How many runs that aren't `there` any more have tasks that aren't done, as far as was asked.
  template <class Runs>
  [[nodiscard]] size_t left_behind(const Runs& there) const {
    return static_cast<size_t>(
        std::ranges::count_if(pending_, [&there](const auto& one) { return !there.contains(one.first); }));
  }

 private:
  struct Job {
    uint64_t run;
    std::shared_ptr<wasi::BlockingTask> task;
  };
  BlockingThreads(size_t most, Fd done_signal) : most_(most), done_signal_(std::move(done_signal)) {}
  void serve();
  void add_thread();

  const size_t most_;
  const Fd done_signal_;                            // an eventfd
  std::unordered_map<uint64_t, uint32_t> pending_;  // tasks of each run; of the thread that hands over
  std::mutex mutex_;      // of all that follows
  std::condition_variable wake_;
  std::deque<Job> queue_;
  std::vector<uint64_t> done_;
  size_t idle_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace subako::worker
