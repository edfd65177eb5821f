// Text with drawings among it, to a terminal: one that takes it slowly can be left with Ctrl-C, and is never
// left in the middle of a sequence, where it would swallow what comes next.
#pragma once

#include <csignal>
#include <optional>
#include <string_view>

#include "base/fd.h"
#include "cli/exit_status.h"

namespace subako::cli {

// One at a time. SIGINT, SIGTERM and SIGHUP end it; what else came of them is forgotten with it.
class DrawnOutput {
 public:
  // Standard output needn't be a terminal.
  DrawnOutput();
  DrawnOutput(const DrawnOutput&) = delete;
  DrawnOutput& operator=(const DrawnOutput&) = delete;
  ~DrawnOutput();

  // False: it has ended, and nothing more is written.
  [[nodiscard]] bool text(std::string_view text) { return write(text, false); }
  [[nodiscard]] bool drawing(std::string_view sequences) { return write(sequences, true); }
  // kCancelled where a signal came; else as write_out().
  [[nodiscard]] Exit exit(Exit otherwise) const { return instead_.value_or(otherwise); }

 private:
  bool write(std::string_view bytes, bool drawing);

  sigset_t mask_before_{};
  Fd terminal_;  // invalid: it is none
  Fd asked_;     // the signals; invalid where there can't be such a descriptor
  bool over_ = false;
  std::optional<Exit> instead_;  // of what else the exit would be
};

}  // namespace subako::cli
