#include "cli/drawn_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/fd.h"
#include "cli/inline_pictures.h"
#include "cli/terminal.h"

namespace subako::cli {

namespace {

constexpr int kLastWordMs = 100;  // for a terminal to take the end of a sequence

// The signals that ask us to end, as a descriptor. Those that came and weren't asked for are dropped with it.
class AskedToEnd {
 public:
  AskedToEnd() {
    sigset_t asked;
    sigemptyset(&asked);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&asked, number);
    (void)pthread_sigmask(SIG_BLOCK, &asked, &before_);
    fd_ = Fd(signalfd(-1, &asked, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  AskedToEnd(const AskedToEnd&) = delete;
  AskedToEnd& operator=(const AskedToEnd&) = delete;
  ~AskedToEnd() {
    signalfd_siginfo one{};
    while (fd_.valid() && read(fd_.get(), &one, sizeof one) > 0) {
    }
    (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  sigset_t before_{};
  Fd fd_;
};

enum class End { kWritten, kAsked, kFailed };  // kFailed: errno tells

// Never waits for the terminal alone.
End write_piece(int terminal, int asked, std::string_view text, size_t& written) {
  while (written < text.size()) {
    std::array<pollfd, 2> ready{
        {{terminal, POLLOUT, 0}, {asked, POLLIN, 0}}};  // an invalid `asked` is left out
    if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return End::kFailed;
    if ((ready[1].revents & POLLIN) != 0) return End::kAsked;
    if (ready[0].revents == 0) continue;
    const ssize_t n = write(terminal, text.data() + written, text.size() - written);
    if (n >= 0) {
      written += static_cast<size_t>(n);
    } else if (errno != EAGAIN && errno != EINTR) {
      return End::kFailed;
    }
  }
  return End::kWritten;
}

Exit cancelled(int terminal, bool in_sequence) {
  pollfd ready{terminal, POLLOUT, 0};
  if (in_sequence && poll(&ready, 1, kLastWordMs) == 1)
    (void)!write(terminal, kEndOfSequence.data(), kEndOfSequence.size());
  say_error("cancelled");
  return Exit::kCancelled;
}

Exit failed(int error, Exit otherwise) {
  if (error == EPIPE || error == EIO) return otherwise;  // the reader, or the terminal, is gone
  say_error(std::string("writing to standard output: ") + std::strerror(error));
  return Exit::kFault;
}

}  // namespace

Exit write_drawn(const std::vector<OutputPiece>& pieces, Exit otherwise) {
  // An open file of its own: making standard output itself non-blocking would make it so for all who share
  // it.
  const Fd terminal(isatty(STDOUT_FILENO) == 1
                        ? open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
                        : -1);
  if (!terminal.valid()) {
    std::string all;
    for (const OutputPiece& piece : pieces) all += piece.text;
    return write_out(all, otherwise);
  }
  const AskedToEnd asked;
  for (const OutputPiece& piece : pieces) {
    size_t written = 0;
    switch (write_piece(terminal.get(), asked.fd(), piece.text, written)) {
      case End::kWritten:
        break;
      case End::kAsked:
        return cancelled(terminal.get(), piece.drawing && written > 0);
      case End::kFailed:
        return failed(errno, otherwise);
    }
  }
  return otherwise;
}

}  // namespace subako::cli
