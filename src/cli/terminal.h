// The standard streams: what they are, and writing to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/exit_status.h"

namespace subako::cli {

// A variable of the environment; one that isn't there is empty.
[[nodiscard]] std::string_view environment(const char* name);

// So that no file that is opened later becomes a standard stream.
void open_standard_streams();

struct Terminal {
  bool out = false;         // standard output is one
  bool err = false;         // standard error is one, and can move its cursor (TERM isn't dumb)
  bool escape_err = false;  // standard error is one, dumb or not: text of others is escaped
  bool colour =
      false;  // on standard error, and on standard output where it is a terminal: NO_COLOR is not set
  size_t width = 100;         // columns of standard output
  uint32_t width_pixels = 0;  // the same in pixels; 0: it doesn't tell
};
[[nodiscard]] Terminal look_at_terminal();

// Writes all of `text`. A reader that is gone is no error; another failure is told on standard error and
// makes the exit 4.
[[nodiscard]] Exit write_out(std::string_view text, Exit otherwise);
// "subako: <sentence>\n" on standard error, with control characters escaped.
void say_error(std::string_view sentence);
// As it is, on standard error.
void write_err(std::string_view text);

// A word in colour where `on`.
enum class Colour { kRed, kGreen, kYellow, kBold, kDim };
[[nodiscard]] std::string coloured(std::string_view text, Colour colour, bool on);

// One line on a terminal's standard error that says what goes on, gone when something else is written.
class Progress {
 public:
  explicit Progress(bool on) : on_(on) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }
  void show(std::string_view what);
  void clear();

 private:
  bool on_;
  bool shown_ = false;
};

}  // namespace subako::cli
