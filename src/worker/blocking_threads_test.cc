#include "worker/blocking_threads.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <semaphore>

namespace subako::worker {
namespace {

using namespace std::chrono_literals;
using wasi::BlockingTask;

std::unique_ptr<BlockingThreads> threads(size_t most) { return BlockingThreads::create(most).value(); }

bool signalled(const BlockingThreads& threads, std::chrono::milliseconds within = 5s) {
  pollfd watched{.fd = threads.readable(), .events = POLLIN, .revents = 0};
  return poll(&watched, 1, static_cast<int>(within.count())) == 1;
}

// What stands still until it is let go.
struct Gate {
  std::counting_semaphore<> let{0};
  std::atomic<int> begun = 0;
  std::shared_ptr<BlockingTask> task() {
    return std::make_shared<BlockingTask>([this](const auto&) {
      ++begun;
      let.acquire();
      return std::errc{};
    });
  }
  [[nodiscard]] bool has_begun(int how_many) const {
    for (int i = 0; i < 5000 && begun < how_many; ++i) std::this_thread::sleep_for(1ms);
    return begun == how_many;
  }
};

TEST(BlockingThreads, tells_whose_task_is_done_and_how_it_went) {
  const auto pool = threads(2);
  EXPECT_TRUE(pool->take_done().empty());
  const auto task = std::make_shared<BlockingTask>([](const auto&) { return std::errc::io_error; });
  pool->hand_over(7, task);
  ASSERT_TRUE(signalled(*pool));
  EXPECT_EQ(pool->take_done(), std::vector<uint64_t>{7});
  EXPECT_TRUE(task->done());
  EXPECT_EQ(task->result(), std::errc::io_error);
  EXPECT_FALSE(signalled(*pool, 0ms));
}

TEST(BlockingThreads, one_that_takes_long_does_not_hold_up_the_next) {  // spec: C12
  Gate gate;
  const auto pool = threads(2);
  pool->hand_over(1, gate.task());
  ASSERT_TRUE(gate.has_begun(1));
  pool->hand_over(2, std::make_shared<BlockingTask>([](const auto&) { return std::errc{}; }));
  ASSERT_TRUE(signalled(*pool));
  EXPECT_EQ(pool->take_done(), std::vector<uint64_t>{2});
  gate.let.release();
}

TEST(BlockingThreads, runs_no_more_at_once_than_it_may) {
  Gate gate;
  const auto pool = threads(2);
  for (uint64_t run = 1; run <= 5; ++run) pool->hand_over(run, gate.task());
  ASSERT_TRUE(gate.has_begun(2));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(gate.begun, 2);
  gate.let.release(5);
  std::vector<uint64_t> done;
  while (done.size() < 5 && signalled(*pool)) {
    for (const uint64_t run : pool->take_done()) done.push_back(run);
  }
  std::ranges::sort(done);
  EXPECT_EQ(done, (std::vector<uint64_t>{1, 2, 3, 4, 5}));
}

TEST(BlockingThreads, an_abandoned_task_is_not_begun_but_let_go_of_there) {
  Gate gate;
  const auto pool = threads(1);
  pool->hand_over(1, gate.task());
  ASSERT_TRUE(gate.has_begun(1));
  std::atomic<bool> ran = false;
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = held;
  const auto task = std::make_shared<BlockingTask>([&ran, held = std::move(held)](const auto&) {
    ran = true;
    return std::errc{};
  });
  pool->hand_over(2, task);
  std::shared_ptr<void> kept = std::make_shared<int>(1);
  EXPECT_FALSE(task->abandon(kept));
  EXPECT_NE(kept, nullptr) << "it uses nothing, as it won't begin";
  EXPECT_FALSE(watched.expired());
  gate.let.release();
  while (!task->done()) ASSERT_TRUE(signalled(*pool)), (void)pool->take_done();
  EXPECT_FALSE(ran);
  EXPECT_TRUE(watched.expired()) << "though the task itself is still there";
}

TEST(BlockingThreads, what_a_begun_task_uses_is_kept_until_it_is_done) {
  Gate gate;
  const auto pool = threads(1);
  const auto task = gate.task();
  pool->hand_over(1, task);
  ASSERT_TRUE(gate.has_begun(1));
  std::shared_ptr<void> kept = std::make_shared<int>(1);
  const std::weak_ptr<void> watched = kept;
  EXPECT_TRUE(task->abandon(kept));
  EXPECT_EQ(kept, nullptr);
  EXPECT_FALSE(watched.expired());
  gate.let.release();
  while (!task->done()) ASSERT_TRUE(signalled(*pool)), (void)pool->take_done();
  for (int i = 0; i < 5000 && !watched.expired(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(watched.expired());
  kept = std::make_shared<int>(2);
  EXPECT_FALSE(task->abandon(kept)) << "it is done";
  EXPECT_NE(kept, nullptr);
}

TEST(BlockingThreads, ends_while_tasks_wait) {
  Gate gate;
  auto pool = threads(1);
  pool->hand_over(1, gate.task());
  ASSERT_TRUE(gate.has_begun(1));
  const auto waiting = gate.task();
  pool->hand_over(2, waiting);
  std::thread ends([&pool] { pool.reset(); });
  std::this_thread::sleep_for(20ms);
  gate.let.release();
  ends.join();
  EXPECT_TRUE(waiting->done());
  EXPECT_EQ(gate.begun, 1);
}

}  // namespace
}  // namespace subako::worker
