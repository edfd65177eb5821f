#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace subako {

namespace {

Code code_of(int errno_value) {
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kDenied;
    case EEXIST:
      return Code::kConflict;
    case EINVAL:
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return Code::kInvalid;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
      return Code::kUnavailable;
    case ENOSYS:
      return Code::kUnsupported;
    default:
      return Code::kInternal;
  }
}

}  // namespace

Error system_error(std::string_view what, int errno_value) {
  return {.code = code_of(errno_value), .message = std::string(what) + ": " + std::strerror(errno_value)};
}

}  // namespace subako
