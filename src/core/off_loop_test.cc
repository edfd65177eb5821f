#include "core/off_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
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

}  // namespace
}  // namespace subako::core
