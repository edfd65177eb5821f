// Work that would hold up the loop (reading, hashing and writing a large module), on one helper thread;
// private to core.
//
// The thread starts with the first work. Children are never started by it, and signals never taken: who blocks one on the
// loop's thread holds it for the process. What is short, and waits for nobody, is done in place: a thread costs more.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "base/limits.h"
#include "core/asio.h"
#include "core/digest.h"

namespace subako::core {

class OffLoop {
 public:
  static constexpr uint64_t kMayWait = UINT64_MAX;

  explicit OffLoop(asio::io_context& io) : io_(io) {}
  OffLoop(const OffLoop&) = delete;
  OffLoop& operator=(const OffLoop&) = delete;
  ~OffLoop() { stop(); }

  // `work` is a T(const GiveUp&); what it uses stays until this has returned, or stop() has. `bytes`: how
  // much it reads or writes, about; kMayWait where it may wait for somebody, however little that is.
  template <class T>
  [[nodiscard]] Task<T> run(uint64_t bytes, std::function<T(const GiveUp&)> work) {
    if (give_up_ || bytes <= kShort) co_return work(give_up_);
    start();
    const auto job = std::make_shared<Job<T>>(io_);  // with the thread, until it is done
    asio::post(*thread_, [this, job, work = std::move(work)] {
      job->value.emplace(work(give_up_));
      asio::post(io_, [job] {
        job->done = true;
        job->changed.cancel();
      });
    });
    while (!job->done) (void)co_await job->changed.async_wait(kAwait);
    co_return *std::move(job->value);
  }

  // Closes a memory file of that size, whose pages take time to give back.
  void drop(uint64_t bytes, Fd file) {
    if (give_up_ || bytes <= kShort) return;
    start();
    asio::post(*thread_, [kept = std::move(file)] {});
  }

  [[nodiscard]] bool stopped() const { return give_up_; }
  // What is under way is asked to give up, and waited for. The io_context is still there.
  void stop() {
    give_up_ = true;
    if (thread_) thread_->join();
  }

 private:
  template <class T>
  struct Job {
    explicit Job(asio::io_context& io) : changed(io, Time::max()) {}
    std::optional<T> value;
    bool done = false;  // of the loop's thread
    asio::steady_timer changed;
  };

  void start() {
    if (thread_) return;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread inherits it
    thread_.emplace(1);
    (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  static constexpr uint64_t kShort = limits::kMiB;

  asio::io_context& io_;
  GiveUp give_up_ = false;
  std::optional<asio::thread_pool> thread_;
};

}  // namespace subako::core
