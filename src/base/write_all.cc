#include "base/write_all.h"

#include <unistd.h>

#include <cerrno>

namespace subako {

Result<void> write_all(int fd, std::string_view bytes, std::string_view what) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(system_error(what, errno));
    // Of no file that works; to try again could go on for ever.
    if (n == 0) return std::unexpected(system_error(what, EIO));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace subako
