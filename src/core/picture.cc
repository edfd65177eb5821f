#include "core/picture.h"

#include <unistd.h>

#include <cerrno>

namespace subako::core {

Result<std::string> bytes_of(const ShownPicture& picture) {
  std::string bytes(picture.size, '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t n =
        pread(picture.bytes.get(), bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (n < 0 && errno != EINTR) return std::unexpected(system_error("reading a picture", errno));
    if (n == 0) return fail(Code::kInternal, "a picture is shorter than it was");
    if (n > 0) have += static_cast<size_t>(n);
  }
  return bytes;
}

}  // namespace subako::core
