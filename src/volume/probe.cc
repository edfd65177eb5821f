#include "volume/probe.h"

#include <fcntl.h>

#include <cerrno>

#include "base/fd.h"
#include "volume/tree.h"

namespace subako::volume {

Result<void> probe_openat2() {
  const Fd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return std::unexpected(system_error("the root directory can't be opened", errno));
  const auto inside = open_beneath(root.get(), ".", O_PATH | O_DIRECTORY, 0);
  if (!inside) {
    return fail(Code::kUnsupported,
                "openat2(2) with RESOLVE_BENEATH doesn't work here (" +
                    std::make_error_code(inside.error()).message() +
                    "), and without it a guest's paths can't be held inside its directories: use Linux 5.8 "
                    "or later, and "
                    "allow openat2 (system call 437 on x86-64) in the container's seccomp profile");
  }
  if (open_beneath(root.get(), "..", O_PATH | O_DIRECTORY, 0)) {
    return fail(Code::kUnsupported,
                "openat2(2) ignores RESOLVE_BENEATH here, so a guest's paths can't be held inside its "
                "directories: run on a "
                "real Linux kernel of 5.8 or later");
  }
  return {};
}

}  // namespace subako::volume
