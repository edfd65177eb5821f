#include "core/scratch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "core/names_in.h"
#include "core/remove_tree.h"

namespace subako::core {

namespace {

constexpr std::string_view kPrefix = ".subako-scratch-";
constexpr size_t kNameBytes = kPrefix.size() + 6;  // of mkdtemp
constexpr const char* kLock = "lock";
constexpr std::string_view kMagic =
    "subako scratch folder 1: removed with all in it once no process holds this lock\n";

Fd open_folder(int parent, const char* name) {
  return Fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool take_lock(int lock) {
  return flock(lock, LOCK_EX | LOCK_NB) == 0;
}

bool write_magic(int lock) {
  return pwrite(lock, kMagic.data(), kMagic.size(), 0) == static_cast<ssize_t>(kMagic.size());
}

bool has_magic(int lock) {
  std::array<char, kMagic.size()> begin{};
  const ssize_t n = pread(lock, begin.data(), begin.size(), 0);
  return n == static_cast<ssize_t>(begin.size()) && std::string_view(begin.data(), begin.size()) == kMagic;
}

// The lock of a folder that one of ours has made; invalid where nothing proves that. The magic is written by
// who already holds the lock: a lock that has it and is free has no living owner.
Fd open_lock_of_ours(int folder) {
  struct stat s{};
  if (fstat(folder, &s) != 0 || s.st_uid != geteuid() || (s.st_mode & 0777U) != 0700U) return Fd();
  Fd lock(openat(folder, kLock, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!lock.valid() || fstat(lock.get(), &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != geteuid())
    return Fd();
  return has_magic(lock.get()) ? std::move(lock) : Fd();
}

bool still_there(int file) {
  struct stat s{};
  return fstat(file, &s) == 0 && s.st_nlink > 0;
}

// The lock goes last: until then it says whose folder this is.
void remove_scratch(int parent, const char* name, int folder) {
  if (!remove_contents(folder, kLock)) return;
  (void)unlinkat(folder, kLock, 0);
  (void)unlinkat(parent, name, AT_REMOVEDIR);
}

// One of ours that was killed between making its lock and marking it: an empty lock, nothing else, and nobody who is still at it.
bool is_half_made(int folder) {
  constexpr time_t kOld = 60;  // seconds
  struct stat s{};
  if (fstat(folder, &s) != 0 || s.st_uid != geteuid() || (s.st_mode & 0777U) != 0700U) return false;
  if (names_in(folder) != std::vector<std::string>{kLock}) return false;
  const Fd lock(openat(folder, kLock, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return lock.valid() && fstat(lock.get(), &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && s.st_size == 0 &&
         time(nullptr) - s.st_mtim.tv_sec > kOld && take_lock(lock.get());
}

// A name like ours proves nothing: what lies in a folder without our lock belongs to somebody. Only an empty
// one goes, as one of ours may be that was killed right after it made it.
void sweep_one(int parent, const char* name) {
  const Fd folder = open_folder(parent, name);
  if (!folder.valid()) return;
  const Fd lock = open_lock_of_ours(folder.get());
  if (!lock.valid()) {
    if (is_half_made(folder.get())) (void)unlinkat(folder.get(), kLock, 0);
    struct stat s{};
    if (fstat(folder.get(), &s) == 0 && s.st_uid == geteuid()) (void)unlinkat(parent, name, AT_REMOVEDIR);
    return;
  }
  // Whoever takes the lock sweeps; another sweeper may have been done meanwhile.
  if (take_lock(lock.get()) && still_there(lock.get())) remove_scratch(parent, name, folder.get());
}

void sweep(int parent) {
  for (const std::string& name : names_in(parent)) {
    if (name.size() == kNameBytes && name.starts_with(kPrefix)) sweep_one(parent, name.c_str());
  }
}

// Makes the lock, held and then marked as ours. `gone`: a sweeper took the folder for one that was left.
struct Locking {
  Fd lock;
  int error = 0;
  bool gone = false;
};
Locking lock_folder(int folder) {
  Fd lock(openat(folder, kLock, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.valid()) return {Fd(), errno, errno == ENOENT};
  errno = ENOSPC;  // where the magic is written by half
  if (take_lock(lock.get()) && write_magic(lock.get())) return {std::move(lock), 0, false};
  const int error = errno;
  (void)unlinkat(folder, kLock, 0);
  return {Fd(), error, false};
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
    Locking locking = folder.valid() ? lock_folder(folder.get()) : Locking{Fd(), errno, errno == ENOENT};
    if (!locking.lock.valid()) {
      (void)unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
      if (locking.gone) continue;
      return std::unexpected(system_error("making the lock of " + path, locking.error));
    }
    return Scratch(std::move(parent), std::move(name), std::move(folder), std::move(locking.lock),
                   std::move(path));
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
