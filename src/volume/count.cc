#include "volume/count.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace subako::volume {

namespace {

constexpr size_t kOpenAtOnce = 32;  // directories; each has a buffer, too

std::unexpected<Error> cannot_read() {
  const int error = errno;
  return std::unexpected(system_error("counting the Volume: a folder in it cannot be read", error));
}

// A directory that is being read, while it is among the last few.
struct Reading {
  Fd fd;
  alignas(dirent64) std::array<char, 16 * 1024> buffer;
  size_t at = 0;
  size_t end = 0;
};

// One of those on the way from the root to where the walk is.
struct Level {
  dev_t device = 0;
  ino_t inode = 0;
  int64_t cookie = 0;                // behind the last entry that was looked at
  std::unique_ptr<Reading> reading;  // none: closed, as there were too many
};

class Walk {
 public:
  explicit Walk(const std::function<bool()>& give_up) : give_up_(give_up) {}

  Result<void> tree(int root) {
    TRY_VOID(enter(root, "."));
    while (!levels_.empty()) {
      if (levels_.back().reading == nullptr) TRY_VOID(reopen());
      TRY(const dirent64* entry, next());
      if (entry == nullptr) {
        leave();
      } else {
        TRY_VOID(look_at(*entry));
      }
    }
    return {};
  }

  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  // By a name that holds no slash and a link not followed, so it leads nowhere else.
  Result<void> enter(int parent, const char* name) {
    TRY(Level level, open(parent, name));
    if (levels_.size() >= kOpenAtOnce) levels_[levels_.size() - kOpenAtOnce].reading.reset();
    levels_.push_back(std::move(level));
    return {};
  }

  Result<Level> open(int parent, const char* name) {
    auto reading = std::make_unique_for_overwrite<Reading>();
    reading->fd = Fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC));
    if (!reading->fd.valid() && errno == EPERM) {  // O_NOATIME is for the owner
      reading->fd = Fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    struct stat found{};
    if (!reading->fd.valid() || ::fstat(reading->fd.get(), &found) != 0) return cannot_read();
    return Level{.device = found.st_dev, .inode = found.st_ino, .reading = std::move(reading)};
  }

  // The next entry but "." and "..", or null at the end.
  Result<const dirent64*> next() {
    Level& level = levels_.back();
    Reading& reading = *level.reading;
    while (true) {
      if (reading.at == reading.end) {
        if (give_up_()) return fail(Code::kCancelled, "counting the Volume was given up");
        const long n = ::syscall(SYS_getdents64, reading.fd.get(), reading.buffer.data(), reading.buffer.size());
        if (n < 0 && errno != ENOENT) return cannot_read();
        if (n <= 0) return nullptr;
        reading.at = 0;
        reading.end = static_cast<size_t>(n);
      }
      const auto* entry = reinterpret_cast<const dirent64*>(reading.buffer.data() + reading.at);
      reading.at += entry->d_reclen;
      level.cookie = entry->d_off;
      const char* name = entry->d_name;
      const bool dots = name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
      if (!dots) return entry;
    }
  }

  Result<void> look_at(const dirent64& entry) {
    ++counts_.entries;
    const int here = levels_.back().reading->fd.get();
    mode_t type = DTTOIF(entry.d_type);
    struct stat found{};
    if (entry.d_type == DT_REG || entry.d_type == DT_UNKNOWN) {
      if (::fstatat(here, entry.d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return {};
        return cannot_read();
      }
      type = found.st_mode & S_IFMT;
    }
    if (type == S_IFDIR) return enter(here, entry.d_name);
    const bool counted = type == S_IFREG && (found.st_nlink <= 1 || linked_.emplace(found.st_dev, found.st_ino).second);
    if (counted) counts_.bytes += static_cast<uint64_t>(found.st_size);
    return {};
  }

  // Back up to a directory that was closed: by the ".." of the one below, which is still `below_`.
  Result<void> reopen() {
    Level& level = levels_.back();
    TRY(Level again, open(below_.get(), ".."));
    if (again.device != level.device || again.inode != level.inode ||
        ::lseek(again.reading->fd.get(), level.cookie, SEEK_SET) < 0) {
      return fail(Code::kConflict, "counting the Volume: a folder in it was moved meanwhile; try again");
    }
    level.reading = std::move(again.reading);
    return {};
  }

  void leave() {
    below_ = std::move(levels_.back().reading->fd);
    levels_.pop_back();
  }

  const std::function<bool()>& give_up_;
  Counts counts_;
  std::vector<Level> levels_;
  Fd below_;
  std::set<std::pair<dev_t, ino_t>> linked_;  // files with several names that have been counted
};

}  // namespace

Result<Counts> count_trees(std::span<const int> roots, const std::function<bool()>& give_up) {
  Walk walk(give_up);
  for (const int root : roots) TRY_VOID(walk.tree(root));
  return walk.counts();
}

}  // namespace subako::volume
