// A child process and the frames to and from it, on the loop; private to core. Owned together by its user and
// the coroutine that writes what the socket doesn't take at once.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "base/limits.h"
#include "child/frames.h"
#include "child/spawn.h"
#include "core/asio.h"

namespace subako::core {

inline constexpr size_t kQueueBytes = 2 * size_t{limits::kFrameBytes};

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  // What a child doesn't read is held here, at most `queue_bytes` of it (more than one frame).
  [[nodiscard]] static Result<std::shared_ptr<Channel>> start(asio::io_context& io,
                                                              const child::SpawnOptions& options,
                                                              size_t queue_bytes = kQueueBytes);
  Channel(asio::io_context& io, child::Child child, Fd socket, Fd pidfd, size_t queue_bytes);

  // Never waits; kLimit where the child hasn't read what it was sent before. That it is gone is told by
  // receive().
  [[nodiscard]] Result<void> send(child::Frame frame);
  // Half of the queue is free. Who sends at its own pace waits for it, so that only a child that doesn't read
  // meets the bound. `on_sent` is called when that may have changed.
  [[nodiscard]] bool has_room() const { return writer_.queued_bytes() <= queue_bytes_ / 2; }
  void on_sent(std::function<void()> call) { on_sent_ = std::move(call); }
  // One reader at a time. None: the other side has closed. kTimeout: nothing came until `deadline`.
  [[nodiscard]] Task<Result<std::optional<child::Frame>>> receive(std::optional<Time> deadline);
  // Waits for the end of the process and kills it after `grace`.
  [[nodiscard]] Task<child::ExitStatus> ended(std::chrono::milliseconds grace);
  void kill();
  // It was ended by us: how it ended says nothing about it.
  [[nodiscard]] bool killed() const { return killed_; }

 private:
  static Task<void> flush_rest(std::shared_ptr<Channel> self);

  asio::io_context& io_;
  child::Child child_;
  asio::posix::stream_descriptor socket_;
  asio::posix::stream_descriptor pidfd_;
  child::FrameReader reader_;
  child::FrameWriter writer_;
  const size_t queue_bytes_;
  std::function<void()> on_sent_;
  std::deque<child::Frame> received_;
  bool flushing_ = false;
  bool killed_ = false;
};

}  // namespace subako::core
