#include "cli/stderr_pump.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace subako::cli {

namespace {

constexpr size_t kPieceBytes =
    4096;  // PIPE_BUF: a pipe that polls as writable takes so much without blocking

}  // namespace

StderrPump::StderrPump(core::asio::io_context& io, const Terminal& terminal, Progress& progress)
    : progress_(progress), text_(terminal.escape_err), fd_(STDERR_FILENO), never_blocks_(false) {
  struct stat s{};
  if (fstat(STDERR_FILENO, &s) != 0) return;
  is_socket_ = S_ISSOCK(s.st_mode);
  never_blocks_ = S_ISREG(s.st_mode);
  if (never_blocks_) return;
  if (S_ISFIFO(s.st_mode) || terminal.escape_err) {
    // Making standard error itself non-blocking would make it so for the shell and everybody else who shares
    // it.
    own_ = Fd(open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (own_.valid()) fd_ = own_.get();
  }
  const int waited_on = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  boost::system::error_code error;
  if (waited_on >= 0) descriptor_.emplace(io).assign(waited_on, error);
  if (error) {
    close(waited_on);
    descriptor_.reset();
    never_blocks_ = true;  // what can't be polled (/dev/null) doesn't block
  }
}

void StderrPump::stderr_arrived(uint64_t left_out, std::string_view text) {
  progress_.clear();
  queue_.push_back({text_.add(left_out, text), static_cast<uint32_t>(text.size())});
  if (!waiting_) write_what_fits();
}

void StderrPump::finish(std::function<void()> on_drained) {
  progress_.clear();
  on_drained_ = std::move(on_drained);
  queue_.push_back({text_.finish(), 0});
  if (!waiting_) write_what_fits();
}

ssize_t StderrPump::write_some(std::string_view text) const {
  text = text.substr(0, kPieceBytes);
  if (is_socket_) return send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  pollfd ready{fd_, POLLOUT, 0};
  if (!never_blocks_ && poll(&ready, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return write(fd_, text.data(), text.size());
}

void StderrPump::write_what_fits() {
  while (!queue_.empty()) {
    Piece& piece = queue_.front();
    while (!closed_ && offset_ < piece.text.size()) {
      const ssize_t n = write_some(std::string_view(piece.text).substr(offset_));
      if (n >= 0) {
        offset_ += static_cast<size_t>(n);
      } else if (errno == EAGAIN && descriptor_) {
        return wait_until_writable();
      } else if (errno != EINTR) {
        closed_ = true;  // nobody reads it any more; the call goes on
      }
    }
    const uint32_t credit = piece.credit;
    queue_.pop_front();
    offset_ = 0;
    taken(credit);
  }
  if (on_drained_) std::exchange(on_drained_, nullptr)();
}

void StderrPump::wait_until_writable() {
  waiting_ = true;
  descriptor_->async_wait(core::asio::posix::stream_descriptor::wait_write,
                          [this](const boost::system::error_code& error) {
                            if (error == core::asio::error::operation_aborted) return;
                            waiting_ = false;
                            write_what_fits();
                          });
}

}  // namespace subako::cli
