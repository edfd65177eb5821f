// What the process exits with: the one place where outcomes and error codes become numbers.
#pragma once

#include <string_view>

#include "base/result.h"

namespace subako::cli {

enum class Exit : int {
  kAnswered = 0,   // and every other success
  kToolError = 1,  // the tool said isError
  kCrashed = 2,
  kRefused = 3,      // the bundle, the arguments or the command line
  kFault = 4,        // ours, or the machine's
  kCancelled = 130,  // as shells say for Ctrl-C: 128 and the signal's number
};

[[nodiscard]] Exit exit_status(Code code);

inline constexpr std::string_view kExitTable =
    "Exit status:\n"
    "  0    answered; for the other commands, success\n"
    "  1    the tool answered that it failed (isError)\n"
    "  2    the function crashed\n"
    "  3    refused: the bundle, the arguments or the command line\n"
    "  4    our own fault, or this machine's\n"
    "  130  cancelled (Ctrl-C)\n";

}  // namespace subako::cli
