#include "cli/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/utf8.h"

namespace subako::cli {

namespace {

// The errno of a failure; 0 where all was written.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd wait{fd, POLLOUT, 0};  // somebody else made it non-blocking
      (void)poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void open_standard_streams() {
  for (int fd = open("/dev/null", O_RDWR); fd >= 0; fd = open("/dev/null", O_RDWR)) {
    if (fd <= STDERR_FILENO) continue;
    close(fd);
    break;
  }
}

Terminal look_at_terminal() {
  const bool dumb = environment("TERM") == "dumb";
  Terminal terminal;
  terminal.out = isatty(STDOUT_FILENO) == 1;
  terminal.escape_err = isatty(STDERR_FILENO) == 1;
  terminal.err = terminal.escape_err && !dumb;
  terminal.colour = terminal.err && environment("NO_COLOR").empty();
  winsize size{};
  if (terminal.out && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
    terminal.width_pixels = size.ws_xpixel;
  }
  return terminal;
}

Exit write_out(std::string_view text, Exit otherwise) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return otherwise;
  say_error(std::string("writing to standard output: ") + std::strerror(error));
  return Exit::kFault;
}

void write_err(std::string_view text) {
  (void)write_all(STDERR_FILENO, text);
}

void say_error(std::string_view sentence) {
  write_err("subako: " + utf8::escape_for_people(sentence) + "\n");
}

std::string coloured(std::string_view text, Colour colour, bool on) {
  if (!on) return std::string(text);
  const char* code = "";
  switch (colour) {
    case Colour::kRed:
      code = "31";
      break;
    case Colour::kGreen:
      code = "32";
      break;
    case Colour::kYellow:
      code = "33";
      break;
    case Colour::kBold:
      code = "1";
      break;
    case Colour::kDim:
      code = "2";
      break;
  }
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

void Progress::show(std::string_view what) {
  if (!on_) return;
  write_err("\r\x1b[K" + std::string(what) + "…");
  shown_ = true;
}

void Progress::clear() {
  if (shown_) write_err("\r\x1b[K");
  shown_ = false;
}

}  // namespace subako::cli
