// A child process and the frames to and from it, on the loop; private to core. Owned together by its user and
// the coroutine that writes what the socket doesn't take at once.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "child/frames.h"
#include "child/spawn.h"
#include "core/asio.h"

namespace subako::core {

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  [[nodiscard]] static Result<std::shared_ptr<Channel>> start(asio::io_context& io,
                                                              const child::SpawnOptions& options);
  Channel(asio::io_context& io, child::Child child, Fd socket, Fd pidfd);

  // Never waits. That the other side is gone is told by receive().
  [[nodiscard]] Result<void> send(child::Frame frame);
  // One reader at a time. None: the other side has closed. kTimeout: nothing came until `deadline`.
  [[nodiscard]] Task<Result<std::optional<child::Frame>>> receive(std::optional<Time> deadline);
  // Waits for the end of the process and kills it after `grace`.
  [[nodiscard]] Task<child::ExitStatus> ended(std::chrono::milliseconds grace);
  void kill() { child_.kill(); }

 private:
  static Task<void> flush_rest(std::shared_ptr<Channel> self);

  asio::io_context& io_;
  child::Child child_;
  asio::posix::stream_descriptor socket_;
  asio::posix::stream_descriptor pidfd_;
  child::FrameReader reader_;
  child::FrameWriter writer_;
  std::deque<child::Frame> received_;
  bool flushing_ = false;
};

}  // namespace subako::core
