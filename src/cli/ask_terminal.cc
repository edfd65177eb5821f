// The one question that is put to a terminal: which device are you (DA1)?
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>

#include "base/fd.h"
#include "cli/inline_pictures.h"

namespace subako::cli {

namespace {

// A terminal that tells what is typed at once and doesn't show it; as it was when this is destroyed. Signals
// wait meanwhile: none may end the process in between.
class Listening {
 public:
  explicit Listening(int terminal) : terminal_(terminal) {
    sigset_t all;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &mask_before_);
    if (tcgetattr(terminal, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    quiet.c_cc[VMIN] = 0;
    quiet.c_cc[VTIME] = 0;
    works_ = tcsetattr(terminal, TCSANOW, &quiet) == 0;
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() {
    if (works_) (void)tcsetattr(terminal_, TCSAFLUSH, &before_);  // the rest of an answer goes
    (void)pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  [[nodiscard]] bool works() const { return works_; }

 private:
  int terminal_;
  sigset_t mask_before_{};
  termios before_{};
  bool works_ = false;
};

std::string hear_answer(int terminal) {
  using std::chrono::milliseconds;
  constexpr size_t kMostBytes = 4096;  // an answer has 20; the rest is typed
  const auto deadline = std::chrono::steady_clock::now() + kAnswerTime;
  std::string heard;
  while (!answer_is_whole(heard) && heard.size() < kMostBytes) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd input{terminal, POLLIN, 0};
    if (left.count() <= 0 || poll(&input, 1, static_cast<int>(left.count())) <= 0) break;
    char piece[256];
    const ssize_t n = read(terminal, piece, sizeof piece);
    if (n <= 0) break;
    heard.append(piece, static_cast<size_t>(n));
  }
  return heard;
}

}  // namespace

InlinePictures ask_terminal() {
  if (isatty(STDOUT_FILENO) != 1) return InlinePictures::kNever;
  const Fd terminal(open("/proc/self/fd/1", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  // In the background a question would stop us, and its answer go to somebody else.
  if (!terminal.valid() || tcgetpgrp(terminal.get()) != getpgrp()) return InlinePictures::kNever;
  const Listening listening(terminal.get());
  constexpr std::string_view kQuestion = "\x1b[c";
  if (!listening.works() ||
      write(terminal.get(), kQuestion.data(), kQuestion.size()) != static_cast<ssize_t>(kQuestion.size())) {
    return InlinePictures::kNever;
  }
  return answer_names_sixel(hear_answer(terminal.get())) ? InlinePictures::kSixel : InlinePictures::kNever;
}

}  // namespace subako::cli
