#include "bundle/bytes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.h"

namespace subako::bundle {

Step<size_t> read_full(ByteSource& source, std::span<char> out) {
  size_t have = 0;
  while (have < out.size()) {
    TRY(const size_t n, source.read(out.subspan(have)));
    if (n == 0) break;
    have += n;
  }
  return have;
}

Step<FileBytes> FileBytes::open(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return stop(system_error("looking at the archive", errno));
  if (!S_ISREG(status.st_mode)) {
    return stop(Error{Code::kInvalid, "the bundle is neither a folder nor a regular file"});
  }
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > limits::kBundleArchiveBytes) {
    return stop(Refusal{
        "B1", "",
        "the archive is larger than " + std::to_string(limits::kBundleArchiveBytes / limits::kMiB) + " MiB",
        "leave out what isn't needed; strip debug information from the module"});
  }
  return FileBytes(fd, size);
}

Step<size_t> FileBytes::read(std::span<char> out) {
  TRY(const size_t n, read_at(position_, out));
  position_ += n;
  return n;
}

// Not past the size that was checked, should the file grow meanwhile.
Step<size_t> FileBytes::read_at(uint64_t offset, std::span<char> out) const {
  if (offset >= size_) return size_t{0};
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(out.size(), size_ - offset));
  size_t have = 0;
  while (have < wanted) {
    const ssize_t n = ::pread(fd_, out.data() + have, wanted - have, static_cast<off_t>(offset + have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return stop(system_error("reading the archive", errno));
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  return have;
}

}  // namespace subako::bundle
