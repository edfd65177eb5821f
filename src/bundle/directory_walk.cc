#include "bundle/directory_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/limits.h"
#include "base/quote.h"
#include "bundle/beneath.h"
#include "bundle/path_rules.h"

namespace subako::bundle {

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

EntryKind kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return EntryKind::kFile;
    case S_IFDIR:
      return EntryKind::kFolder;
    case S_IFLNK:
      return EntryKind::kSymlink;
    case S_IFIFO:
      return EntryKind::kFifo;
    case S_IFSOCK:
      return EntryKind::kSocket;
    case S_IFCHR:
    case S_IFBLK:
      return EntryKind::kDevice;
    default:
      return EntryKind::kUnknown;
  }
}

// What the tree's owner can mend is a refusal; what the machine lacks is an Error.
std::unexpected<Stop> cannot_read(const std::string& path, int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case ELOOP:
    case ENOENT:
    case ENOTDIR:
    case EXDEV:
    case ENXIO:
      return stop(Refusal{"B1", shortened(path), std::string("it can't be read: ") + std::strerror(error),
                          "check its permissions, and leave the folder alone while it is read"});
    default:
      return stop(system_error("reading \"" + shortened(path) + "\"", error));
  }
}

class Walk {
 public:
  Walk(int root, Intake& intake) : root_(root), intake_(intake) {}

  // Folders wait on a stack by path, so that depth costs neither descriptors nor call stack.
  Step<void> run() {
    pending_.push_back("");
    while (!pending_.empty()) {
      const std::string path = std::move(pending_.back());
      pending_.pop_back();
      TRY_VOID(visit(path));
    }
    return {};
  }

 private:
  Step<void> visit(const std::string& path) {
    if (intake_.refused_folder_of(path)) return {};
    struct stat status{};
    if (path.empty()) return list("");
    const Fd look = open_beneath(root_, path, O_PATH);
    if (!look.valid() || ::fstat(look.get(), &status) != 0) return cannot_read(path, errno);
    Entry entry{path, kind_of(status.st_mode), ""};
    if (entry.kind == EntryKind::kFile) return read_file(entry);
    TRY_VOID(intake_.begin(entry));
    TRY_VOID(intake_.end());
    if (entry.kind != EntryKind::kFolder) return {};
    const auto placed = place(path, PathOf::kFolder);
    if (!placed || placed->place == Place::kJunk) return {};
    return list(path);
  }

  Step<void> list(const std::string& path) {
    Fd fd = open_beneath(root_, path.empty() ? "." : path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (!fd.valid()) return cannot_read(path, errno);
    const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(fd.get()));
    if (!directory) return cannot_read(path, errno);
    static_cast<void>(fd.release());
    const size_t before = pending_.size();
    for (;;) {
      errno = 0;
      const dirent* found = ::readdir(directory.get());
      if (found == nullptr && errno != 0) return cannot_read(path, errno);
      if (found == nullptr) break;
      const std::string name = found->d_name;
      if (name == "." || name == "..") continue;
      if (++listed_ > limits::kBundleEntries) {
        return stop(Refusal{"B3", shortened(path),
                            "there are more than " + std::to_string(limits::kBundleEntries) + " entries",
                            "pack fewer files and folders"});
      }
      pending_.push_back(path.empty() ? name : path + "/" + name);
    }
    // The last is visited first.
    std::ranges::sort(pending_.begin() + static_cast<ptrdiff_t>(before), pending_.end(), std::greater<>());
    return {};
  }

  Step<void> read_file(const Entry& entry) {
    // It may have become something else since it was looked at: hence no waiting for a pipe, and a second
    // look.
    const Fd file = open_beneath(root_, entry.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    struct stat status{};
    if (!file.valid() || ::fstat(file.get(), &status) != 0) return cannot_read(entry.path, errno);
    TRY_VOID(intake_.begin(Entry{entry.path, kind_of(status.st_mode), ""}));
    if (S_ISREG(status.st_mode)) {
      for (;;) {
        const ssize_t n = ::read(file.get(), buffer_.get(), kBufferBytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return cannot_read(entry.path, errno);
        if (n == 0) break;
        TRY_VOID(intake_.write(std::string_view(buffer_.get(), static_cast<size_t>(n))));
      }
    }
    return intake_.end();
  }

  static constexpr size_t kBufferBytes =
      64 * limits::kKiB;  // no more than the heap has without asking the kernel

  int root_;
  Intake& intake_;
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kBufferBytes);
  std::vector<std::string> pending_;  // paths still to visit, the next one last
  uint32_t listed_ = 0;
};

}  // namespace

Step<void> walk_directory(int folder_fd, Intake& intake) {
  return Walk(folder_fd, intake).run();
}

}  // namespace subako::bundle
