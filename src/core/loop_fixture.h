// For tests whose coroutines need a loop.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "core/asio.h"

namespace subako::core {

class LoopTest : public testing::Test {
 protected:
  template <class T>
  T wait(Task<T> task) {
    std::optional<T> out;
    asio::co_spawn(io_, std::move(task), [&](const std::exception_ptr& thrown, T value) {
      EXPECT_FALSE(thrown);
      out = std::move(value);
    });
    run_until([&] { return out.has_value(); });
    return *std::move(out);
  }

  // A loop that once ran out of work stays stopped until it is told to go on.
  template <class Done>
  void run_until(Done done) {
    io_.restart();
    while (!done() && io_.run_one() > 0) {
    }
    EXPECT_TRUE(done()) << "nothing is left to do";
  }

  asio::io_context io_;
};

}  // namespace subako::core
