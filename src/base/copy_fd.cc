#include "base/copy_fd.h"

#include <fcntl.h>

#include <cerrno>

namespace subako {

Result<Fd> copy_of(int fd, std::string_view doing) {
  Fd copy(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return std::unexpected(system_error(doing, errno));
  return copy;
}

}  // namespace subako
