#include "worker/ticker.h"

#include <gtest/gtest.h>

namespace subako::worker {
namespace {

using namespace std::chrono_literals;

// Waits for a condition rather than a time: machines are slow and busy.
template <class Condition>
bool comes_true(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

TEST(Ticker, ticks_only_while_active) {
  std::atomic<int> ticks = 0;
  Ticker ticker([&] { ++ticks; }, 500us);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(ticks.load(), 0);
  ticker.set_active(true);
  EXPECT_TRUE(comes_true([&] { return ticks.load() > 3; }));
  ticker.set_active(false);
  std::this_thread::sleep_for(5ms);  // a tick may be under way
  const int stopped_at = ticks.load();
  std::this_thread::sleep_for(100ms);  // long enough for the thread to go to sleep
  EXPECT_EQ(ticks.load(), stopped_at);
  ticker.set_active(true);
  EXPECT_TRUE(comes_true([&] { return ticks.load() > stopped_at; }));
}

TEST(Ticker, wakes_from_sleep_every_time) {
  std::atomic<int> ticks = 0;
  Ticker ticker([&] { ++ticks; }, 100us);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(10ms);
    const int before = ticks.load();
    ticker.set_active(true);
    ASSERT_TRUE(comes_true([&] { return ticks.load() > before; })) << round;
    ticker.set_active(false);
  }
}

}  // namespace
}  // namespace subako::worker
