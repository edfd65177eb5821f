#include "cli/file_aside.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/quote.h"

namespace subako::cli {

FileAside::FileAside(std::string path) : path_(std::move(path)), aside_(path_ + ".XXXXXX") {
  file_ = Fd(mkostemp(aside_.data(), O_CLOEXEC));
  error_ = file_.valid() ? 0 : errno;
}

FileAside::~FileAside() {
  if (file_.valid()) (void)unlink(aside_.c_str());
}

Fd FileAside::duplicate() const {
  return Fd(fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
}

Result<void> FileAside::put_in_place() {
  const mode_t mask = umask(0);
  (void)umask(mask);
  if (fchmod(file_.get(), 0666 & ~mask) != 0 || fsync(file_.get()) != 0 ||
      rename(aside_.c_str(), path_.c_str()) != 0) {
    return std::unexpected(system_error("writing " + one_line(path_), errno));
  }
  file_.reset();
  return {};
}

}  // namespace subako::cli
