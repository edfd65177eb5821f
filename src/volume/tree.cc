#include "volume/tree.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/limits.h"
#include "base/result.h"
#include "volume/path.h"

namespace subako::volume {

namespace {

std::unexpected<std::errc> refused(std::errc why) {
  return std::unexpected(why);
}
std::unexpected<std::errc> kernel_says() {
  return std::unexpected(static_cast<std::errc>(errno));
}

Outcome<void> done_unless(int result) {
  if (result != 0) return kernel_says();
  return {};
}

// A path cut at its last name, with its parent open. The name stands directly in `directory()`.
class Place {
 public:
  static Outcome<Place> find(const Tree& tree, std::string_view path) {
    TRY(const SplitPath split, SplitPath::from(path));
    // "." and ".." name no entry that could be changed, but an escape must be told as one.
    if (split.dots()) {
      TRY(const WholePath whole, WholePath::from(path));
      TRY_VOID(open_beneath(tree.fd(), whole.text(), O_PATH | O_DIRECTORY, 0));
    }
    Fd parent;
    if (*split.parent() != '\0') {
      TRY(parent, open_beneath(tree.fd(), split.parent(), O_PATH | O_DIRECTORY, 0));
    }
    return Place(split, std::move(parent), tree.fd());
  }

  [[nodiscard]] int directory() const { return parent_.valid() ? parent_.get() : tree_; }
  [[nodiscard]] const char* name() const { return path_.name(); }
  [[nodiscard]] bool slash() const { return path_.slash(); }
  [[nodiscard]] bool dots() const { return path_.dots(); }
  [[nodiscard]] bool is_dot() const { return dots() && name()[1] == '\0'; }

  // What stands there now, links not followed; none where nothing does.
  [[nodiscard]] Outcome<std::optional<mode_t>> type() const {
    struct stat found{};
    if (::fstatat(directory(), name(), &found, AT_SYMLINK_NOFOLLOW) == 0) return found.st_mode & S_IFMT;
    if (errno == ENOENT) return std::nullopt;
    return kernel_says();
  }

 private:
  Place(const SplitPath& path, Fd parent, int tree) : path_(path), parent_(std::move(parent)), tree_(tree) {}
  SplitPath path_;
  Fd parent_;
  int tree_;
};

// Nothing may be made: so what stands there is left to say why it couldn't be anyway.
Outcome<void> check_room(const Place& place, Room room) {
  if (room == Room::kYes) return {};
  TRY(const auto type, place.type());
  if (!type) return refused(std::errc::no_space_on_device);
  return {};
}

// A new name that is written as a directory's but won't be one.
Outcome<void> check_new_name(const Place& place) {
  if (place.dots()) return refused(std::errc::file_exists);
  if (!place.slash()) return {};
  TRY(const auto type, place.type());
  if (!type) return refused(std::errc::no_such_file_or_directory);
  return refused(*type == S_IFDIR ? std::errc::file_exists : std::errc::not_a_directory);
}

// What stands there and is about to be removed. Held by a path alone (O_PATH): that keeps a file from being freed as well as an open
// one does, and opens nothing.
Removed look_at(const Place& place) {
  struct stat found{};
  if (::fstatat(place.directory(), place.name(), &found, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (found.st_nlink != 1 || !frees_slowly(freed_bytes(found))) return {found, {}};
  return {found, Fd(::openat(place.directory(), place.name(), O_PATH | O_NOFOLLOW | O_CLOEXEC))};
}

// A rename between two names of one file does nothing.
bool is_the_same(const Place& place, const struct stat& other) {
  struct stat found{};
  return ::fstatat(place.directory(), place.name(), &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_ino == other.st_ino &&
         found.st_dev == other.st_dev;
}

Outcome<Fd> handle(const Tree& tree, std::string_view path, LastLink last) {
  TRY(const WholePath whole, WholePath::from(path));
  return open_beneath(tree.fd(), whole.text(), O_PATH | (last == LastLink::kFollow ? 0 : O_NOFOLLOW), 0);
}

}  // namespace

bool frees_slowly(uint64_t bytes) { return bytes > limits::kFreedAtOnceBytes; }

// A file with holes takes up less than its size says, and more where it is read: the holes' pages are cached.
uint64_t freed_bytes(const struct stat& file) {
  constexpr uint64_t kBlock = 512;  // st_blocks' unit
  if (!S_ISREG(file.st_mode)) return 0;
  return std::max(static_cast<uint64_t>(file.st_size), static_cast<uint64_t>(file.st_blocks) * kBlock);
}

Outcome<Fd> open_beneath(int directory, const char* path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC;
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: something on the way of a ".." was renamed meanwhile.
  for (int left = 32; left > 0; --left) {
    const long fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (fd >= 0) return Fd(static_cast<int>(fd));
    if (errno != EAGAIN && errno != EINTR) break;
  }
  if (errno == EXDEV) return refused(std::errc::operation_not_permitted);
  return kernel_says();
}

namespace {

Outcome<Opened> looked_at(Outcome<Fd> opened) {
  // How the kernel says "a pipe that nobody reads, a socket, a device without a driver".
  if (!opened && opened.error() == std::errc::no_such_device_or_address) {
    return refused(std::errc::not_supported);
  }
  TRY(Fd file, std::move(opened));
  struct stat found{};
  if (::fstat(file.get(), &found) != 0) return kernel_says();
  if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return refused(std::errc::not_supported);
  return Opened{.fd = std::move(file), .directory = S_ISDIR(found.st_mode), .found = found};
}

// A file that isn't there, in a directory that is.
Outcome<void> check_room_for_file(const Tree& tree, std::string_view path, bool exclusive, Room room) {
  if (room == Room::kYes) return {};
  TRY(const Place place, Place::find(tree, path));
  if (place.slash()) return {};  // none is made by that name
  if (!exclusive) return refused(std::errc::no_space_on_device);  // a link to where there is none may stand there
  return check_room(place, room);
}

}  // namespace

Outcome<Opened> Tree::open(std::string_view path, int flags, LastLink last, Room room) const {
  TRY(const WholePath whole, WholePath::from(path));
  const int all = flags | O_NOCTTY | O_NONBLOCK | (last == LastLink::kFollow ? 0 : O_NOFOLLOW);
  if ((flags & O_CREAT) == 0) return looked_at(open_beneath(fd(), whole.text(), all, 0));
  // Whether it makes a file must be known: so one that is there is opened, and only where there is none it is made.
  const bool exclusive = (flags & O_EXCL) != 0;
  if (!exclusive && !path.ends_with('/')) {
    auto there = open_beneath(fd(), whole.text(), all & ~O_CREAT, 0);
    if (there || there.error() != std::errc::no_such_file_or_directory) {
      TRY(Opened opened, looked_at(std::move(there)));
      if (opened.directory) return refused(std::errc::is_a_directory);
      return opened;
    }
  }
  TRY_VOID(check_room_for_file(*this, path, exclusive, room));
  TRY(Opened opened, looked_at(open_beneath(fd(), whole.text(), all, kFileMode)));
  opened.made = true;
  return opened;
}

// One name needs no handle, but where it is a link to be followed: less than half of the time.
Outcome<struct stat> Tree::stat(std::string_view path, LastLink last) const {
  struct stat result{};
  if (is_one_name(path)) {
    TRY(const WholePath name, WholePath::from(path));
    constexpr int kStays = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    if (::fstatat(fd(), name.text(), &result, kStays) != 0) return kernel_says();
    if (last == LastLink::kStay || !S_ISLNK(result.st_mode)) return result;
  }
  TRY(const Fd found, handle(*this, path, last));
  if (::fstat(found.get(), &result) != 0) return kernel_says();
  return result;
}

Outcome<void> Tree::set_times(std::string_view path, LastLink last,
                              const std::array<timespec, 2>& access_and_change) const {
  TRY(const Fd found, handle(*this, path, last));
  return done_unless(::utimensat(found.get(), "", access_and_change.data(), AT_EMPTY_PATH));
}

Outcome<void> Tree::make_directory(std::string_view path, Room room) const {
  TRY(const Place place, Place::find(*this, path));
  if (place.dots()) return refused(std::errc::file_exists);
  TRY_VOID(check_room(place, room));
  return done_unless(::mkdirat(place.directory(), place.name(), kDirectoryMode));
}

Outcome<void> Tree::remove_directory(std::string_view path) const {
  TRY(const Place place, Place::find(*this, path));
  if (place.dots()) {
    return refused(place.is_dot() ? std::errc::invalid_argument : std::errc::directory_not_empty);
  }
  return done_unless(::unlinkat(place.directory(), place.name(), AT_REMOVEDIR));
}

Outcome<Removed> Tree::unlink(std::string_view path) const {
  TRY(const Place place, Place::find(*this, path));
  if (place.dots()) return refused(std::errc::is_a_directory);
  if (place.slash()) {
    TRY(const auto type, place.type());
    if (!type) return refused(std::errc::no_such_file_or_directory);
    return refused(*type == S_IFDIR ? std::errc::is_a_directory : std::errc::not_a_directory);
  }
  Removed removed = look_at(place);
  TRY_VOID(done_unless(::unlinkat(place.directory(), place.name(), 0)));
  return removed;
}

Outcome<void> Tree::make_link(std::string_view target, std::string_view path, Room room) const {
  TRY(const WholePath content, WholePath::from(target));
  TRY(const Place place, Place::find(*this, path));
  TRY_VOID(check_new_name(place));
  TRY_VOID(check_room(place, room));
  return done_unless(::symlinkat(content.text(), place.directory(), place.name()));
}

Outcome<size_t> Tree::read_link(std::string_view path, std::span<std::byte> to) const {
  TRY(const Fd link, handle(*this, path, LastLink::kStay));
  struct stat found{};
  if (::fstat(link.get(), &found) != 0) return kernel_says();
  if (!S_ISLNK(found.st_mode)) return refused(std::errc::invalid_argument);
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlinkat(link.get(), "", target.data(), target.size());
  if (length < 0) return kernel_says();
  if (length > 0 && target[0] == '/') return refused(std::errc::operation_not_permitted);
  const size_t copied = std::min(static_cast<size_t>(length), to.size());
  std::ranges::copy(std::as_bytes(std::span(target)).first(copied), to.begin());
  return copied;
}

Outcome<Removed> Tree::rename(std::string_view path, const Tree& other, std::string_view other_path) const {
  TRY(const Place from, Place::find(*this, path));
  TRY(const Place to, Place::find(other, other_path));
  if (from.dots() || to.dots()) return refused(std::errc::device_or_resource_busy);
  if (from.slash() || to.slash()) {
    TRY(const auto type, from.type());
    if (!type) return refused(std::errc::no_such_file_or_directory);
    if (*type != S_IFDIR) return refused(std::errc::not_a_directory);
  }
  Removed removed = look_at(to);
  if (removed.was && is_the_same(from, *removed.was)) removed = {};
  TRY_VOID(done_unless(::renameat(from.directory(), from.name(), to.directory(), to.name())));
  return removed;
}

Outcome<void> Tree::hard_link(std::string_view path, const Tree& other, std::string_view other_path, Room room) const {
  TRY(const Place from, Place::find(*this, path));
  TRY(const Place to, Place::find(other, other_path));
  if (from.dots()) return refused(std::errc::operation_not_permitted);
  if (from.slash()) {
    TRY(const auto type, from.type());
    if (!type) return refused(std::errc::no_such_file_or_directory);
    return refused(*type == S_IFDIR ? std::errc::operation_not_permitted : std::errc::not_a_directory);
  }
  TRY_VOID(check_new_name(to));
  if (room == Room::kNone) {
    TRY(const auto type, from.type());
    if (!type) return refused(std::errc::no_such_file_or_directory);
    if (*type != S_IFDIR) TRY_VOID(check_room(to, room));  // which can't be linked
  }
  return done_unless(::linkat(from.directory(), from.name(), to.directory(), to.name(), 0));
}

}  // namespace subako::volume
