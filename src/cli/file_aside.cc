#include "cli/file_aside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/quote.h"
#include "base/random.h"

namespace subako::cli {

FileAside::FileAside(int folder, std::string name, std::string shown)
    : folder_(folder),
      name_(std::move(name)),
      aside_(name_ + Ids().next("").substr(0, 9)),
      shown_(std::move(shown)) {
  file_ = Fd(openat(folder_, aside_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  error_ = file_.valid() ? 0 : errno;
}

FileAside::~FileAside() {
  if (file_.valid()) (void)unlinkat(folder_, aside_.c_str(), 0);
}

Fd FileAside::duplicate() const {
  return Fd(fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
}

Result<void> FileAside::put_in_place() {
  const mode_t mask = umask(0);
  (void)umask(mask);
  if (fchmod(file_.get(), 0666 & ~mask) != 0 || fsync(file_.get()) != 0 ||
      renameat(folder_, aside_.c_str(), folder_, name_.c_str()) != 0) {
    return std::unexpected(system_error("writing " + one_line(shown_), errno));
  }
  file_.reset();
  return {};
}

}  // namespace subako::cli
