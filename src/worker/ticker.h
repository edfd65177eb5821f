// Lets guests that only compute take turns: a thread that advances the engine's epoch while any guest is runnable. The worker's
// loop is one thread, so without it a guest in a loop would never come back.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace subako::worker {

class Ticker {
 public:
  // `tick` is called from the ticker's thread every `period` while active.
  Ticker(std::function<void()> tick, std::chrono::microseconds period);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  // Cheap when called for each slice: the thread goes to sleep only after a while without work.
  void set_active(bool active);

 private:
  void run();

  std::function<void()> tick_;
  std::chrono::microseconds period_;
  std::atomic<bool> active_ = false;
  std::atomic<bool> asleep_ = false;
  bool stop_ = false;  // under mutex_
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace subako::worker
