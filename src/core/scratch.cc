#include "core/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "core/remove_tree.h"

namespace subako::core {

namespace {

constexpr std::string_view kPrefix = "subako-";
constexpr size_t kNameBytes = kPrefix.size() + 6;  // of mkdtemp
constexpr const char* kLock = "lock";
constexpr time_t kUnlockedAge =
    60;  // seconds in which a folder may be without its lock: its process is just making it

Fd open_folder(int parent, const char* name) {
  return Fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool lock_free(int lock) {
  return flock(lock, LOCK_EX | LOCK_NB) == 0;
}

bool still_there(int file) {
  struct stat s{};
  return fstat(file, &s) == 0 && s.st_nlink > 0;
}

// Is nobody alive behind this folder? Where so, `lock` holds its lock, so that only one sweeps it.
bool stale(int folder, Fd& lock) {
  struct stat s{};
  if (fstat(folder, &s) != 0 || s.st_uid != geteuid()) return false;
  lock = Fd(openat(folder, kLock, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (lock.valid()) return lock_free(lock.get());
  return errno == ENOENT && s.st_ctime + kUnlockedAge < time(nullptr);
}

// The lock goes last: until then it says that somebody is at work.
void remove_scratch(int parent, const char* name, int folder) {
  if (!remove_contents(folder, kLock)) return;
  (void)unlinkat(folder, kLock, 0);
  (void)unlinkat(parent, name, AT_REMOVEDIR);
}

std::vector<std::string> candidates(int parent) {
  std::vector<std::string> names;
  const int own = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(fdopendir(own), &closedir);
  if (!dir) {
    close(own);
    return names;
  }
  while (const dirent* entry = readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    if (name.size() == kNameBytes && name.starts_with(kPrefix)) names.emplace_back(name);
  }
  return names;
}

void sweep(int parent) {
  for (const std::string& name : candidates(parent)) {
    const Fd folder = open_folder(parent, name.c_str());
    Fd lock;
    if (folder.valid() && stale(folder.get(), lock)) remove_scratch(parent, name.c_str(), folder.get());
  }
}

}  // namespace

ScratchFolder::~ScratchFolder() {
  if (!folder_.valid()) return;
  (void)remove_contents(folder_.get());
  (void)unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR);
}

std::string Scratch::default_parent() {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/tmp";
}

Result<Scratch> Scratch::create(const std::string& parent_path) {
  Fd parent(open(parent_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent.valid()) {
    Error error = system_error("opening the folder for temporary files, " + parent_path, errno);
    error.message += "; set TMPDIR to a folder that can be written to";
    return std::unexpected(std::move(error));
  }
  sweep(parent.get());
  for (int attempt = 0; attempt < 10; ++attempt) {
    std::string path = parent_path + "/" + std::string(kPrefix) + "XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      Error error = system_error("making a temporary folder in " + parent_path, errno);
      error.message += "; set TMPDIR to a folder that can be written to";
      return std::unexpected(std::move(error));
    }
    std::string name = path.substr(path.rfind('/') + 1);
    Fd folder = open_folder(parent.get(), name.c_str());
    Fd lock(openat(folder.get(), kLock, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock.valid()) return std::unexpected(system_error("making the lock of " + path, errno));
    // A sweeper may have come between the making and the locking: it owns the folder then, or has removed it already.
    if (!lock_free(lock.get()) || !still_there(lock.get())) continue;
    return Scratch(std::move(parent), std::move(name), std::move(folder), std::move(lock), std::move(path));
  }
  return fail(Code::kUnavailable, "no temporary folder could be locked in " + parent_path + "; try again");
}

Scratch::Scratch(Fd parent, std::string name, Fd folder, Fd lock, std::string path)
    : parent_(std::move(parent)),
      name_(std::move(name)),
      folder_(std::move(folder)),
      lock_(std::move(lock)),
      path_(std::move(path)) {}

Scratch::~Scratch() {
  if (folder_.valid()) remove_scratch(parent_.get(), name_.c_str(), folder_.get());
}

Result<ScratchFolder> Scratch::make_folder(std::string_view purpose) {
  std::string name = std::string(purpose) + "-" + std::to_string(next_++);
  if (mkdirat(folder_.get(), name.c_str(), 0700) != 0) {
    return std::unexpected(system_error("making a temporary folder in " + path_, errno));
  }
  Fd folder = open_folder(folder_.get(), name.c_str());
  Fd parent(fcntl(folder_.get(), F_DUPFD_CLOEXEC, 0));
  if (!folder.valid() || !parent.valid()) {
    return std::unexpected(system_error("opening a temporary folder in " + path_, errno));
  }
  std::string path = path_ + "/" + name;
  return ScratchFolder(std::move(parent), std::move(name), std::move(folder), std::move(path));
}

}  // namespace subako::core
