// Coroutines that wait for something to change, each with its own deadline; private to core.
#pragma once

#include <set>

#include "core/asio.h"

namespace subako::core {

class Signal {
 public:
  explicit Signal(asio::io_context& io) : io_(io) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  // Wakes all that wait; they look again at what they wait for.
  void notify() {
    for (asio::steady_timer* timer : waiting_) timer->cancel();
  }

  // The Signal outlives the wait.
  Task<void> wait_until(Time deadline) {
    asio::steady_timer timer(io_, deadline);
    const Entry entry(waiting_, timer);
    (void)co_await timer.async_wait(kAwait);
  }

 private:
  class Entry {
   public:
    Entry(std::set<asio::steady_timer*>& all, asio::steady_timer& timer) : all_(all), timer_(&timer) {
      all_.insert(timer_);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { all_.erase(timer_); }

   private:
    std::set<asio::steady_timer*>& all_;
    asio::steady_timer* timer_;
  };

  asio::io_context& io_;
  std::set<asio::steady_timer*> waiting_;
};

}  // namespace subako::core
