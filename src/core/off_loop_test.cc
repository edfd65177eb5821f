#include "core/off_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace subako::core {
namespace {

using namespace std::chrono_literals;

class OffLoopTest : public testing::Test {
 protected:
  // Where the work ran, once `done`.
  void begin(uint64_t bytes, std::function<std::thread::id(const GiveUp&)> work) {
    asio::co_spawn(io_, off_loop_.run(bytes, std::move(work)),
                   [this](const std::exception_ptr& thrown, std::thread::id where) {
                     EXPECT_FALSE(thrown);
                     where_ = where;
                   });
  }
  static std::thread::id here(const GiveUp&) { return std::this_thread::get_id(); }

  asio::io_context io_;
  OffLoop off_loop_{io_};
  std::optional<std::thread::id> where_;
};

TEST_F(OffLoopTest, what_is_long_or_may_wait_runs_on_another_thread) {
  for (const uint64_t bytes : {2 * limits::kMiB, OffLoop::kMayWait}) {
    where_.reset();
    begin(bytes, here);
    io_.restart();
    io_.run();
    ASSERT_TRUE(where_);
    EXPECT_NE(*where_, std::this_thread::get_id());
  }
}

TEST_F(OffLoopTest, what_is_short_runs_in_place) {
  begin(100, here);
  io_.run();
  EXPECT_EQ(where_, std::this_thread::get_id());
}

TEST_F(OffLoopTest, the_loop_goes_on_meanwhile) {
  std::atomic<bool> go_on = false;
  begin(OffLoop::kMayWait, [&go_on](const GiveUp& give_up) {
    while (!go_on) std::this_thread::sleep_for(1ms);
    return here(give_up);
  });
  bool ticked = false;
  asio::steady_timer timer(io_, 5ms);
  timer.async_wait([&](auto) {
    ticked = !where_;
    go_on = true;
  });
  io_.run();
  EXPECT_TRUE(ticked);
  EXPECT_TRUE(where_);
}

TEST_F(OffLoopTest, stopping_asks_the_work_to_give_up_and_waits_for_it) {
  std::atomic<bool> began = false;
  std::atomic<bool> ended = false;
  begin(OffLoop::kMayWait, [&](const GiveUp& give_up) {
    began = true;
    while (!give_up) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(20ms);
    ended = true;
    return here(give_up);
  });
  while (!began) io_.poll();
  EXPECT_FALSE(off_loop_.stopped());
  off_loop_.stop();
  EXPECT_TRUE(off_loop_.stopped());
  EXPECT_TRUE(ended);
  io_.run();
  EXPECT_TRUE(where_) << "whoever waited for it hears that it ended";
}

TEST_F(OffLoopTest, after_the_stop_work_sees_at_once_that_it_is_to_give_up) {
  off_loop_.stop();
  bool asked = false;
  begin(OffLoop::kMayWait, [&](const GiveUp& give_up) {
    asked = give_up;
    return here(give_up);
  });
  io_.run();
  EXPECT_TRUE(asked);
  EXPECT_EQ(where_, std::this_thread::get_id());
  off_loop_.drop(2 * limits::kMiB, Fd(memfd_create("dropped", MFD_CLOEXEC)));
}

TEST_F(OffLoopTest, a_large_file_is_closed_by_the_thread) {
  Fd file(memfd_create("dropped", MFD_CLOEXEC));
  const int number = file.get();
  off_loop_.drop(2 * limits::kMiB, std::move(file));
  off_loop_.stop();
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

// So that who blocks one on the loop's thread holds it for the whole process.
TEST(OffLoop, its_thread_takes_no_signals) {
  asio::io_context io;
  OffLoop off_loop(io);
  sigset_t before;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
  std::optional<bool> held;
  const std::thread::id here = std::this_thread::get_id();
  asio::co_spawn(
      io,
      off_loop.run<bool>(100 * limits::kMiB,
                         [here](const GiveUp&) {
                           sigset_t mask;
                           bool all = pthread_sigmask(SIG_SETMASK, nullptr, &mask) == 0 &&
                                      std::this_thread::get_id() != here;
                           for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGTSTP, SIGHUP, SIGWINCH})
                             all = all && sigismember(&mask, number) == 1;
                           return all;
                         }),
      [&](const std::exception_ptr&, bool value) { held = value; });
  io.run();
  EXPECT_TRUE(held.value_or(false));
  sigset_t after;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGTSTP, SIGHUP, SIGWINCH})
    EXPECT_EQ(sigismember(&before, number), sigismember(&after, number)) << number;
}

}  // namespace
}  // namespace subako::core
