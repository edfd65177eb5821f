#include "core/channel.h"

#include <fcntl.h>

#include <cerrno>

namespace subako::core {

namespace {

// False where `deadline` came first.
Task<bool> readable(asio::io_context& io, asio::posix::stream_descriptor& descriptor,
                    std::optional<Time> deadline) {
  struct Wait {
    bool over = false;
    bool expired = false;
  };
  const auto wait =
      std::make_shared<Wait>();  // with the timer's handler, which may run after this coroutine has gone on
  asio::steady_timer timer(io);
  if (deadline) {
    timer.expires_at(*deadline);
    timer.async_wait([wait, &descriptor](const boost::system::error_code& error) {
      if (error || wait->over) return;
      wait->expired = true;
      descriptor.cancel();
    });
  }
  (void)co_await descriptor.async_wait(asio::posix::stream_descriptor::wait_read, kAwait);
  wait->over = true;
  co_return !wait->expired;
}

}  // namespace

Result<std::shared_ptr<Channel>> Channel::start(asio::io_context& io, const child::SpawnOptions& options,
                                                size_t queue_bytes) {
  TRY(child::Child child, child::spawn(options));
  Fd socket(fcntl(child.socket(), F_DUPFD_CLOEXEC, 0));
  Fd pidfd(fcntl(child.pidfd(), F_DUPFD_CLOEXEC, 0));
  if (!socket.valid() || !pidfd.valid())
    return std::unexpected(system_error("watching a child process", errno));
  return std::make_shared<Channel>(io, std::move(child), std::move(socket), std::move(pidfd), queue_bytes);
}

Channel::Channel(asio::io_context& io, child::Child child, Fd socket, Fd pidfd, size_t queue_bytes)
    : io_(io),
      child_(std::move(child)),
      socket_(io, socket.release()),
      pidfd_(io, pidfd.release()),
      queue_bytes_(queue_bytes) {}

void Channel::kill() {
  if (child_.poll_exit()) return;
  killed_ = true;
  child_.kill();
}

Result<void> Channel::send(child::Frame frame) {
  if (writer_.queued_bytes() + frame.body.size() > queue_bytes_) {
    return fail(Code::kLimit, "the child process does not read what it is sent: " +
                                  std::to_string(writer_.queued_bytes()) + " bytes are waiting for it");
  }
  TRY_VOID(writer_.push(std::move(frame)));
  if (flushing_) return {};
  const auto state = writer_.flush(child_.socket());
  if (!state || *state == child::FrameWriter::State::kDone) return {};
  flushing_ = true;
  asio::co_spawn(io_, flush_rest(shared_from_this()), kUnattended);
  return {};
}

Task<void> Channel::flush_rest(std::shared_ptr<Channel> self) {
  for (;;) {
    const auto [error] =
        co_await self->socket_.async_wait(asio::posix::stream_descriptor::wait_write, kAwait);
    // A deadline of receive() cancels every wait on the socket, this one too.
    if (error && error != asio::error::operation_aborted) break;
    const auto state = self->writer_.flush(self->child_.socket());
    if (self->on_sent_) self->on_sent_();
    if (!state || *state == child::FrameWriter::State::kDone) break;
  }
  self->flushing_ = false;
}

Task<Result<std::optional<child::Frame>>> Channel::receive(std::optional<Time> deadline) {
  const auto self = shared_from_this();
  while (received_.empty()) {
    CO_TRY(auto got, reader_.read_some(child_.socket()));
    for (child::Frame& frame : got.frames) received_.push_back(std::move(frame));
    if (!received_.empty()) break;
    if (got.state == child::FrameReader::State::kClosed) co_return std::nullopt;
    // Where there may be more it is readable at once; waiting all the same lets the others on the loop go on.
    const bool in_time = co_await readable(io_, socket_, deadline);
    if (!in_time) co_return fail(Code::kTimeout, "the child process said nothing in time");
  }
  std::optional<child::Frame> frame(std::move(received_.front()));
  received_.pop_front();
  co_return frame;
}

Task<child::ExitStatus> Channel::ended(std::chrono::milliseconds grace) {
  const auto self = shared_from_this();
  const Time deadline = now() + grace;
  while (!child_.poll_exit()) {
    const bool in_time = co_await readable(io_, pidfd_, deadline);
    if (in_time) continue;
    kill();
    if (!co_await readable(io_, pidfd_, now() + limits::kChildReap)) co_return child::ExitStatus{};
  }
  co_return *child_.poll_exit();
}

}  // namespace subako::core
