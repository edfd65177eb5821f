#include "cli/drawn_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "cli/inline_pictures.h"
#include "cli/terminal.h"

namespace subako::cli {

namespace {

constexpr int kLastWordMs = 100;  // for a terminal to take the end of a sequence

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

// What a terminal that is slow hasn't taken yet is dropped, so that there is room.
void end_sequence(int terminal) {
  (void)tcflush(terminal, TCOFLUSH);
  pollfd ready{terminal, POLLOUT, 0};
  if (poll(&ready, 1, kLastWordMs) == 1)
    (void)!::write(terminal, kEndOfSequence.data(), kEndOfSequence.size());
}

}  // namespace

DrawnOutput::DrawnOutput() {
  if (isatty(STDOUT_FILENO) != 1) return;
  // An open file of its own: making standard output itself non-blocking would make it so for all who share
  // it.
  terminal_ = Fd(open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!terminal_.valid()) return;
  sigset_t asked;
  sigemptyset(&asked);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&asked, number);
  (void)pthread_sigmask(SIG_BLOCK, &asked, &mask_before_);
  asked_ = Fd(signalfd(-1, &asked, SFD_CLOEXEC | SFD_NONBLOCK));
  // Without it they do what they did before.
  if (!asked_.valid()) (void)pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

DrawnOutput::~DrawnOutput() {
  if (!asked_.valid()) return;
  signalfd_siginfo one{};
  while (read(asked_.get(), &one, sizeof one) > 0) {
  }
  (void)pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

bool DrawnOutput::write(std::string_view bytes, bool drawing) {
  if (over_) return false;
  if (!terminal_.valid()) {
    over_ = write_out(bytes, Exit::kAnswered) != Exit::kAnswered;
    if (over_) instead_ = Exit::kFault;
    return !over_;
  }
  size_t written = 0;
  const End end = write_piece(terminal_.get(), asked_.get(), bytes, written);
  over_ = end != End::kWritten;
  if (end == End::kAsked) {
    if (drawing && written > 0) end_sequence(terminal_.get());
    say_error("cancelled");
    instead_ = Exit::kCancelled;
  }
  // The terminal that is gone is no failure.
  if (end == End::kFailed && errno != EPIPE && errno != EIO) {
    say_error(std::string("writing to standard output: ") + std::strerror(errno));
    instead_ = Exit::kFault;
  }
  return !over_;
}

}  // namespace subako::cli
