#include "cli/exit_status.h"

namespace subako::cli {

Exit exit_status(Code code) {
  switch (code) {
    case Code::kInvalid:
    case Code::kNotFound:
    case Code::kDenied:
    case Code::kTooLarge:
    case Code::kLimit:
    case Code::kConflict:
      return Exit::kRefused;
    case Code::kCancelled:
      return Exit::kCancelled;
    case Code::kUnavailable:
    case Code::kBusy:
    case Code::kTimeout:
    case Code::kUnsupported:
    case Code::kCorrupt:
    case Code::kInternal:
      return Exit::kFault;
  }
  return Exit::kFault;
}

}  // namespace subako::cli
