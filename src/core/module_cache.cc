#include "core/module_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <expected>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/write_all.h"
#include "core/names_in.h"
#include "core/remove_tree.h"

namespace subako::core {

namespace {

constexpr const char* kKeeping = "keeping a compiled module";  // what an Error begins with
constexpr const char* kModule = "module";
constexpr const char* kChecksum = "checksum";
constexpr const char* kLock = ".lock";
constexpr std::string_view kAside = ".aside-";
constexpr size_t kKeyDigits = 64;
constexpr uint64_t kChecksumBytes = 256;     // more than any has
constexpr uint64_t kOverheadBytes = 12'288;  // of an entry on a disk: its folder, and the ends of its files
constexpr time_t kUsedAgain = 60;            // seconds; in between, using it once more changes nothing
constexpr time_t kAsideYoung = 60;           // seconds: its writer may not have locked it yet
constexpr time_t kAsideOld = 86'400;         // seconds, where locks don't work

bool is_key(std::string_view name) {
  return name.size() == kKeyDigits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string aside_name() {
  std::array<unsigned char, 8> random{};
  fill_random(std::as_writable_bytes(std::span(random)));
  return std::string(kAside) + hex_of(random);
}

Fd open_folder(int parent, const std::string& name) {
  return Fd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Why an entry can't be used. Only what is known to be damaged is removed: a machine that is short of
// descriptors or memory, or a disk that fails for a moment, says nothing about it.
enum class Flaw { kDamaged, kUnknown };

// Of a name that can't be opened: it isn't there, or is no file (a link, a socket).
Flaw flaw_of_open(int error) {
  return error == ENOENT || error == ELOOP || error == ENOTDIR || error == ENXIO ? Flaw::kDamaged
                                                                                 : Flaw::kUnknown;
}

// A file that only we can have written.
struct OwnFile {
  Fd fd;
  struct stat status{};
};
std::expected<OwnFile, Flaw> open_own(int folder, const char* name) {
  OwnFile file{Fd(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)), {}};
  if (!file.fd.valid()) return std::unexpected(flaw_of_open(errno));
  if (fstat(file.fd.get(), &file.status) != 0) return std::unexpected(Flaw::kUnknown);
  if (!S_ISREG(file.status.st_mode) || file.status.st_uid != geteuid() ||
      (file.status.st_mode & 0022U) != 0) {
    return std::unexpected(Flaw::kDamaged);
  }
  return file;
}

// Some file systems tell of a full disk only here.
bool close_file(Fd& file) {
  return close(file.release()) == 0 || errno == EINTR;
}

// What the file beside a module says. It is compared as a whole, never taken apart: there is nothing to
// misread.
std::string checksum_text(const std::string& key, uint64_t bytes, uint64_t checksum) {
  return "subako compiled module 1\nkey " + key + "\nbytes " + std::to_string(bytes) + "\nxxh3 " +
         std::to_string(checksum) + "\n";
}

std::expected<std::string, Flaw> begin_of(int file) {
  std::string text(kChecksumBytes, '\0');
  const ssize_t n = pread(file, text.data(), text.size(), 0);
  if (n < 0) return std::unexpected(Flaw::kUnknown);
  text.resize(static_cast<size_t>(n));
  return text;
}

std::expected<void, Flaw> check_whole(const std::string& key, const OwnFile& module, int checksum,
                                      const GiveUp& give_up) {
  Checksum sum;
  uint64_t bytes = 0;
  const auto read = read_in_pieces(module.fd.get(), give_up, [&](std::string_view piece) -> Result<void> {
    sum.add(piece);
    bytes += piece.size();
    return {};
  });
  if (!read) return std::unexpected(Flaw::kUnknown);
  TRY(const std::string expected, begin_of(checksum));
  if (expected != checksum_text(key, bytes, sum.value())) return std::unexpected(Flaw::kDamaged);
  return {};
}

void note_use(const OwnFile& module) {
  // A time that is still to come, as after a clock was put back, is none.
  const time_t age = time(nullptr) - module.status.st_mtim.tv_sec;
  if (age >= 0 && age < kUsedAgain) return;
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = 0, .tv_nsec = UTIME_NOW}};
  (void)futimens(module.fd.get(), times);
}

// The module of an entry, whole.
std::expected<Fd, Flaw> take_entry(int parent, const std::string& key, const GiveUp& give_up) {
  const Fd entry = open_folder(parent, key);
  if (!entry.valid()) return std::unexpected(flaw_of_open(errno));
  struct stat s{};
  if (fstat(entry.get(), &s) != 0) return std::unexpected(Flaw::kUnknown);
  if (s.st_uid != geteuid() || (s.st_mode & 0077U) != 0) return std::unexpected(Flaw::kDamaged);
  TRY(OwnFile module, open_own(entry.get(), kModule));
  TRY(const OwnFile checksum, open_own(entry.get(), kChecksum));
  TRY_VOID(check_whole(key, module, checksum.fd.get(), give_up));
  note_use(module);
  return std::move(module.fd);
}

void remove_all(int parent, const std::string& name) {
  const auto opened = open_folder_forced(parent, name.c_str());  // somebody may have taken its permissions
  if (const Fd folder(opened.value_or(-1)); folder.valid()) (void)remove_contents(folder.get());
  if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno == ENOTDIR)
    (void)unlinkat(parent, name.c_str(), 0);
}

// An entry that is being written: locked as long as its writer lives, gone with this object.
class Aside {
 public:
  static Result<Aside> make(int parent) {
    std::string name = aside_name();
    if (mkdirat(parent, name.c_str(), 0700) != 0) return std::unexpected(system_error(kKeeping, errno));
    Fd folder = open_folder(parent, name);
    if (!folder.valid()) {
      const int error = errno;
      (void)unlinkat(parent, name.c_str(), AT_REMOVEDIR);
      return std::unexpected(system_error(kKeeping, error));
    }
    // Against the sweep of another process. Without locks (some network disks) its youth protects it.
    (void)flock(folder.get(), LOCK_EX | LOCK_NB);
    return Aside(parent, std::move(name), std::move(folder));
  }
  Aside(Aside&& other) noexcept = default;
  Aside& operator=(Aside&&) = delete;
  // Of what lies at its name now: it may have changed places with an older entry.
  ~Aside() {
    if (!folder_.valid()) return;
    remove_all(parent_, name_);
  }

  [[nodiscard]] const std::string& name() const { return name_; }

  Result<Fd> file(const char* name) const {
    Fd file(openat(folder_.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400));
    if (!file.valid()) return std::unexpected(system_error(kKeeping, errno));
    return file;
  }

  Result<void> put_in_place(const std::string& key) {
    if (renameat2(parent_, name_.c_str(), parent_, key.c_str(), RENAME_NOREPLACE) == 0 ||
        (errno == EEXIST && renameat2(parent_, name_.c_str(), parent_, key.c_str(), RENAME_EXCHANGE) == 0)) {
      return {};
    }
    // Some file systems know no flags: then an entry that is there stays.
    if (errno == EINVAL && renameat(parent_, name_.c_str(), parent_, key.c_str()) == 0) return {};
    return std::unexpected(system_error(kKeeping, errno));
  }

 private:
  Aside(int parent, std::string name, Fd folder)
      : parent_(parent), name_(std::move(name)), folder_(std::move(folder)) {}
  int parent_;
  std::string name_;
  Fd folder_;
};

Result<uint64_t> write_module(const Aside& aside, const std::string& key, int compiled,
                              const GiveUp& give_up) {
  const auto failed = [] { return std::unexpected(system_error(kKeeping, errno)); };
  TRY(Fd module, aside.file(kModule));
  Checksum sum;
  uint64_t bytes = 0;
  TRY_VOID(read_in_pieces(compiled, give_up, [&](std::string_view piece) -> Result<void> {
    sum.add(piece);
    bytes += piece.size();
    return write_all(module.get(), piece, kKeeping);
  }));
  if (!close_file(module)) return failed();
  TRY(Fd checksum, aside.file(kChecksum));
  TRY_VOID(write_all(checksum.get(), checksum_text(key, bytes, sum.value()), kKeeping));
  if (!close_file(checksum)) return failed();
  return bytes;
}

struct Kept {
  std::string key;
  uint64_t bytes = 0;
  timespec used{};
};
Kept look_at(int folder, std::string key) {
  Kept kept{std::move(key), kOverheadBytes, {}};
  struct stat s{};
  // One without its module is of no use: the oldest of all.
  if (fstatat(folder, (kept.key + "/" + kModule).c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) return kept;
  kept.bytes += static_cast<uint64_t>(std::max<off_t>(0, s.st_size));
  kept.used = s.st_mtim;
  return kept;
}

// Whoever looks it up meanwhile finds all of it or nothing.
void remove_entry(int parent, const std::string& key) {
  const std::string aside = aside_name();
  if (renameat(parent, key.c_str(), parent, aside.c_str()) == 0) remove_all(parent, aside);
}

// Left by a writer that was killed.
bool is_stale(int parent, const std::string& aside) {
  struct stat s{};
  if (fstatat(parent, aside.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) return false;
  const time_t age = time(nullptr) - s.st_mtim.tv_sec;
  if (age >= 0 && age < kAsideYoung) return false;  // a time that is still to come is none
  if (!S_ISDIR(s.st_mode)) return true;
  const auto opened = open_folder_forced(parent, aside.c_str());
  const Fd folder(opened.value_or(-1));
  if (!folder.valid()) return false;
  if (flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return true;
  return errno != EWOULDBLOCK && age > kAsideOld;
}

Result<Fd> take_lock(int folder, const GiveUp& give_up) {
  Fd lock(openat(folder, kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.valid()) return std::unexpected(system_error("locking the cache of compiled modules", errno));
  const auto until = std::chrono::steady_clock::now() + limits::kCacheLockWait;
  while (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      break;  // a disk without locks: two at once may pass the bound, until the next one comes
    if (give_up || std::chrono::steady_clock::now() > until)
      return fail(Code::kUnavailable, "another process holds the lock of the cache of compiled modules");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return lock;
}

enum class Folders { kMake, kAsk };

// In our user namespace whoever isn't mapped, root included, looks like this one (/proc/sys/fs/overflowuid).
constexpr uid_t kUnknownUser = 65534;

// Whoever owns a folder can put another in the place of ours. Not in one of another user's, then: `sudo subako` would leave its own in
// somebody's home. For who isn't root, the system's own folders do where others can't change what lies there.
Result<void> may_be_parent(const std::string& path) {
  struct stat s{};
  if (stat(path.c_str(), &s) != 0) return {};  // making one in it tells
  if (s.st_uid == geteuid()) return {};
  if (geteuid() == 0 || (s.st_uid != 0 && s.st_uid != kUnknownUser))
    return fail(Code::kDenied, "the folder " + path + " belongs to another user");
  if ((s.st_mode & 0022U) != 0 && (s.st_mode & S_ISVTX) == 0)
    return fail(Code::kDenied, "others may write to the folder " + path + ", which isn't this user's own: name another");
  return {};
}

// kAsk: whether it is likely to go well.
Result<void> make_folders(const std::string& path, Folders what) {
  std::string parent = path.starts_with('/') ? "/" : ".";
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    struct stat s{};
    if (stat(folder.c_str(), &s) != 0) {
      TRY_VOID(may_be_parent(parent));
      if (what == Folders::kAsk) {
        if (faccessat(AT_FDCWD, parent.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
        return std::unexpected(system_error("making the folder " + folder, errno));
      }
      if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return std::unexpected(system_error("making the folder " + folder, errno));
    }
    if (slash == std::string::npos) return {};
    parent = folder;
  }
}

// Some file systems (FAT, some network disks) give everything the same permissions; an entry there would never
// be found fit for use. A folder for its owner alone is proof enough that this one isn't so, or does no harm.
// Where nothing can be made, nothing is kept either.
bool keeps_modes(int folder, mode_t mode) {
  if ((mode & 0077U) == 0) return true;
  const std::string probe = aside_name();
  if (mkdirat(folder, probe.c_str(), 0700) != 0) return true;
  struct stat s{};
  const bool kept =
      fstatat(folder, probe.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0 || (s.st_mode & 0777U) == 0700U;
  (void)unlinkat(folder, probe.c_str(), AT_REMOVEDIR);
  return kept;
}

// The folder, fit to be a cache. None with kAsk: it isn't there yet.
Result<Fd> usable_folder(std::string path, Folders what) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();  // it would follow a link
  Fd folder(open(path.c_str(), kFlags));
  if (!folder.valid() && errno == ENOENT) {
    TRY_VOID(make_folders(path, what));
    if (what == Folders::kAsk) return Fd();
    folder = Fd(open(path.c_str(), kFlags));
  }
  struct stat s{};
  if (!folder.valid() || fstat(folder.get(), &s) != 0) {
    Error error = system_error("opening the folder " + path, errno);
    if (lstat(path.c_str(), &s) == 0 && S_ISLNK(s.st_mode))
      error.message = "the folder " + path + " is a symbolic link; name the folder that it leads to";
    return std::unexpected(std::move(error));
  }
  if (s.st_uid != geteuid()) return fail(Code::kDenied, "the folder " + path + " belongs to another user");
  if ((s.st_mode & 0022U) != 0) {
    return fail(Code::kDenied,
                "others may write to the folder " + path + ": it must be for its owner alone (chmod 700)");
  }
  if (!keeps_modes(folder.get(), s.st_mode)) {
    return fail(Code::kUnsupported,
                "the folder " + path +
                    " lies on a file system that doesn't keep the permissions of files: what is "
                    "for its owner alone wouldn't stay so");
  }
  struct statvfs disk{};
  if (fstatvfs(folder.get(), &disk) == 0 && (disk.f_flag & ST_NOEXEC) != 0) {
    return fail(
        Code::kUnsupported,
        "the folder " + path + " lies on a file system that is mounted noexec: code can't be run from there");
  }
  return folder;
}

}  // namespace

ModuleKey::ModuleKey(const Sha256& module, std::string_view identity) {
  const Sha256 engine = sha256_of(identity);
  std::string both(module.begin(), module.end());
  both.append(engine.begin(), engine.end());
  hex_ = hex_of(sha256_of(both));
}

std::optional<ModuleCache::Place> ModuleCache::default_place() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::optional<std::string>() : std::string(value);
  };
  if (auto named = variable("SUBAKO_CACHE_DIR")) {
    if (named->empty()) return std::nullopt;
    return Place{*std::move(named), true};
  }
  // Only absolute paths count, by the XDG specification.
  const auto cache = variable("XDG_CACHE_HOME").value_or("");
  if (cache.starts_with('/')) return Place{cache + "/subako/modules", false};
  const auto home = variable("HOME").value_or("");
  struct stat s{};
  if (home.starts_with('/') && stat(home.c_str(), &s) == 0 && S_ISDIR(s.st_mode)) return Place{home + "/.cache/subako/modules", false};
  return std::nullopt;
}

Result<ModuleCache> ModuleCache::open(std::string path, uint64_t bound) {
  TRY(Fd folder, usable_folder(std::move(path), Folders::kMake));
  return ModuleCache(std::move(folder), bound);
}

Result<std::optional<ModuleCache>> ModuleCache::open_existing(std::string path) {
  TRY(Fd folder, usable_folder(std::move(path), Folders::kAsk));
  if (!folder.valid()) return std::nullopt;
  return ModuleCache(std::move(folder), limits::kCacheBytes);
}

std::optional<Fd> ModuleCache::find(const ModuleKey& key, const GiveUp& give_up) const {
  auto module = take_entry(folder_.get(), key.hex(), give_up);
  if (module) return *std::move(module);
  if (module.error() == Flaw::kDamaged) remove(key);
  return std::nullopt;
}

Result<void> ModuleCache::store(const ModuleKey& key, int compiled, const GiveUp& give_up) const {
  struct stat s{};
  if (fstat(compiled, &s) != 0) return std::unexpected(system_error(kKeeping, errno));
  if (static_cast<uint64_t>(s.st_size) + kOverheadBytes > bound_)
    return fail(Code::kTooLarge, "the compiled module is larger than the cache may be");
  TRY(Aside aside, Aside::make(folder_.get()));
  TRY(const uint64_t bytes, write_module(aside, key.hex(), compiled, give_up));
  TRY(const Fd lock, take_lock(folder_.get(), give_up));
  make_room(bytes + kOverheadBytes, aside.name(), key.hex());
  return aside.put_in_place(key.hex());
}

void ModuleCache::remove(const ModuleKey& key) const {
  remove_entry(folder_.get(), key.hex());
}

void ModuleCache::make_room(uint64_t more, const std::string& aside, const std::string& replaced) const {
  std::vector<Kept> all;
  uint64_t total = more;
  for (std::string& name : names_in(folder_.get())) {
    if (name.starts_with(kAside)) {
      if (is_stale(folder_.get(), name)) {
        remove_all(folder_.get(), name);
      } else if (name != aside) {
        total += look_at(folder_.get(), std::move(name)).bytes;  // it is about to be an entry
      }
    } else if (is_key(name) && name != replaced) {
      all.push_back(look_at(folder_.get(), std::move(name)));
      total += all.back().bytes;
    }
  }
  if (total <= bound_) return;
  const auto time_of = [](const Kept& kept) { return std::pair(kept.used.tv_sec, kept.used.tv_nsec); };
  std::ranges::sort(all, {}, time_of);
  for (const Kept& kept : all) {
    if (total <= bound_) return;
    remove_entry(folder_.get(), kept.key);
    total -= kept.bytes;
  }
}

ModuleCache::Usage ModuleCache::usage() const {
  Usage usage;
  usage.writable = faccessat(folder_.get(), ".", W_OK | X_OK, AT_EACCESS) == 0;
  for (std::string& name : names_in(folder_.get())) {
    const bool entry = is_key(name);
    if (!entry && !name.starts_with(kAside)) continue;
    if (entry) ++usage.entries;
    (entry ? usage.bytes : usage.unfinished) += look_at(folder_.get(), std::move(name)).bytes;
  }
  return usage;
}

}  // namespace subako::core
