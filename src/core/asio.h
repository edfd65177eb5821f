// Asio as this room uses it. Heavy: for .cc files and private headers only.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>

#include "core/task.h"

namespace subako::core {

namespace asio = boost::asio;

// A wait completes with an error code as a value: nothing throws.
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// The completion of a coroutine that nobody waits for: what it throws is a bug, and goes on to main
// (asio::detached would swallow it, and leave whoever needs the coroutine waiting).
inline constexpr auto kUnattended = [](const std::exception_ptr& thrown) {
  if (thrown) std::rethrow_exception(thrown);
};

using Time = std::chrono::steady_clock::time_point;
[[nodiscard]] inline Time now() {
  return std::chrono::steady_clock::now();
}
[[nodiscard]] inline double ms_since(Time begin) {
  return std::chrono::duration<double, std::milli>(now() - begin).count();
}

}  // namespace subako::core
