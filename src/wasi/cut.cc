#include "wasi/cut.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/limits.h"
#include "wasi/reply.h"

namespace subako::wasi {

std::errc set_size(int fd, uint64_t size) {
  return ::ftruncate(fd, static_cast<off_t>(size)) == 0 ? std::errc{} : last_error();
}

std::errc cut_in_steps(int fd, uint64_t size, const BlockingTask::Wanted& wanted) {
  while (wanted) {
    struct stat now{};
    if (::fstat(fd, &now) != 0) return last_error();
    const auto length = static_cast<uint64_t>(now.st_size);
    if (length <= size) break;
    const uint64_t next = length - std::min(length - size, limits::kFreedAtOnceBytes);
    if (const std::errc error = set_size(fd, next); error != std::errc{}) return error;
  }
  return {};
}

}  // namespace subako::wasi
