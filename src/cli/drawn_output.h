// Text with drawings among it, to a terminal: one that takes it slowly can be left with Ctrl-C, and is never
// left in the middle of a sequence, where it would swallow what comes next.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_status.h"

namespace subako::cli {

struct OutputPiece {
  std::string text;
  bool drawing = false;  // escape sequences of ours
};

// All pieces to standard output, which needn't be a terminal. SIGINT, SIGTERM and SIGHUP end it: kCancelled.
// Else as write_out().
[[nodiscard]] Exit write_drawn(const std::vector<OutputPiece>& pieces, Exit otherwise);

}  // namespace subako::cli
