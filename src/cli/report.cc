#include "cli/commands.h"

namespace subako::cli {

Exit report(const Error& error) {
  const Exit status = exit_status(error.code);
  if (status != Exit::kCancelled) say_error(error.message);  // a cancel was told when it was asked for
  return status;
}

Exit report_usage(const std::string& sentence, const std::string& command) {
  say_error(sentence + "; try `subako" + (command.empty() ? "" : " " + command) + " --help`");
  return Exit::kRefused;
}

}  // namespace subako::cli
