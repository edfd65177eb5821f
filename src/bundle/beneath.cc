#include "bundle/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace subako::bundle {

Fd open_beneath(int folder_fd, const std::string& path, int flags, unsigned mode) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC | O_NOFOLLOW);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  // EAGAIN: a rename went on meanwhile and the kernel can't prove that the path stayed beneath.
  for (int attempt = 0; attempt < 100; ++attempt) {
    fd = ::syscall(SYS_openat2, folder_fd, path.c_str(), &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return Fd(static_cast<int>(fd));
}

}  // namespace subako::bundle
