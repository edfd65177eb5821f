#include "wasi/filestat.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "base/result.h"
#include "wasi/cut.h"
#include "wasi/functions.h"
#include "wasi/place.h"

namespace subako::wasi {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

uint64_t nanoseconds(const timespec& time) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  if (time.tv_sec < 0) return 0;
  const auto seconds = static_cast<uint64_t>(time.tv_sec);
  if (seconds >= kMost / kSecond) return kMost;
  return seconds * kSecond + static_cast<uint64_t>(time.tv_nsec);
}

Try<timespec> time_of(uint64_t time, bool given, bool now) {
  if (given && now) return refuse(Errno::kInval);
  if (now) return timespec{0, UTIME_NOW};
  if (!given) return timespec{0, UTIME_OMIT};
  return timespec{static_cast<time_t>(time / kSecond), static_cast<long>(time % kSecond)};
}

Try<volume::LastLink> last_link(LookupFlags lookup) {
  if (!has_only(lookup, LookupFlags::kAll)) return refuse(Errno::kInval);
  return has(lookup, LookupFlags::kSymlinkFollow) ? volume::LastLink::kFollow : volume::LastLink::kStay;
}

}  // namespace

FileType type_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return FileType::kRegular;
    case S_IFDIR:
      return FileType::kDirectory;
    case S_IFLNK:
      return FileType::kSymbolicLink;
    case S_IFBLK:
      return FileType::kBlock;
    case S_IFCHR:
      return FileType::kCharacter;
    case S_IFSOCK:
      return FileType::kStream;
    default:
      return FileType::kUnknown;
  }
}

Filestat filestat_of(const struct stat& found) {
  return {.device = found.st_dev,
          .inode = found.st_ino,
          .filetype = type_of(found.st_mode),
          .links = found.st_nlink,
          .size = static_cast<uint64_t>(found.st_size),
          .accessed = nanoseconds(found.st_atim),
          .modified = nanoseconds(found.st_mtim),
          .changed = nanoseconds(found.st_ctim)};
}

Filestat virtual_filestat() {
  return {.inode = kVirtualInode, .filetype = FileType::kDirectory, .links = 1};
}

Try<std::array<timespec, 2>> times_of(uint64_t accessed, uint64_t modified, TimeFlags flags) {
  if (!has_only(flags, TimeFlags::kAll)) return refuse(Errno::kInval);
  TRY(const timespec atim, time_of(accessed, has(flags, TimeFlags::kAtim), has(flags, TimeFlags::kAtimNow)));
  TRY(const timespec mtim, time_of(modified, has(flags, TimeFlags::kMtim), has(flags, TimeFlags::kMtimNow)));
  return std::array{atim, mtim};
}

Reply fd_filestat_get(Host& host, FdNumber fd, OutPtr<Filestat> stat) {
  TRY(Descriptor * found, host.descriptor(fd, Rights::kFdFilestatGet));
  if (found->stream() != nullptr) {
    stat.set({});
    return {};
  }
  int kernel_fd = -1;
  if (File* file = found->file()) {
    kernel_fd = file->fd.get();
  } else {
    TRY(const volume::Tree* tree, tree_of(host, *found->directory()));
    if (tree == nullptr) {
      stat.set(virtual_filestat());
      return {};
    }
    kernel_fd = tree->fd();
  }
  struct stat result{};
  if (::fstat(kernel_fd, &result) != 0) return refuse(last_error());
  stat.set(filestat_of(result));
  return {};
}

Reply fd_filestat_set_size(Host& host, FdNumber fd, uint64_t size) {
  if (!host.at_work()) {
    TRY(File * file, host.file(fd, Rights::kFdFilestatSetSize));
    if (!file->root->writable) return refuse(Errno::kPerm);
    if (size > INT64_MAX) return refuse(Errno::kInval);
    const int kernel_fd = file->fd.get();
    struct stat now{};
    if (::fstat(kernel_fd, &now) != 0) return refuse(last_error());
    const auto old_size = static_cast<uint64_t>(now.st_size);
    if (old_size <= size || !volume::frees_slowly(old_size - size)) {
      file->fd.settle(old_size);
      TRY_VOID(host.may_resize(old_size, size));
      if (const std::errc error = set_size(kernel_fd, size); error != std::errc{}) return refuse(error);
      host.budget().charge_size(old_size, size);
      file->fd.settle(size);
      return {};
    }
    host.begin_work([kernel_fd, size](const auto& wanted) { return cut_in_steps(kernel_fd, size, wanted); });
  }
  TRY_VOID(host.finish_work());
  return settle(*host.descriptors().find(fd)->file());
}

Reply fd_filestat_set_times(Host& host, FdNumber fd, uint64_t accessed, uint64_t modified, TimeFlags flags) {
  TRY(const auto times, times_of(accessed, modified, flags));
  TRY(Descriptor * found, host.descriptor(fd, Rights::kNone));
  if (found->stream() != nullptr) return refuse(Errno::kBadf);
  TRY(found, host.descriptor(fd, Rights::kFdFilestatSetTimes));
  if (const File* file = found->file()) {
    if (!file->root->writable) return refuse(Errno::kPerm);
    if (::futimens(file->fd.get(), times.data()) != 0) return refuse(last_error());
    return {};
  }
  const Directory& directory = *found->directory();
  if (!directory.root->writable) return refuse(Errno::kPerm);
  TRY(const volume::Tree* tree, tree_of(host, directory));
  TRY_VOID(tree->set_times(".", volume::LastLink::kStay, times));
  return {};
}

Reply path_filestat_get(Host& host, FdNumber fd, LookupFlags lookup, GuestPath path, OutPtr<Filestat> stat) {
  TRY(const volume::LastLink last, last_link(lookup));
  TRY(const Place place, find_place(host, fd, path.text, Rights::kPathFilestatGet, Change::kNo));
  if (place.tree == nullptr) {
    stat.set(virtual_filestat());
    return {};
  }
  TRY(const struct stat found, place.tree->stat(place.path, last));
  stat.set(filestat_of(found));
  return {};
}

Reply path_filestat_set_times(Host& host, FdNumber fd, LookupFlags lookup, GuestPath path, uint64_t accessed,
                              uint64_t modified, TimeFlags flags) {
  TRY(const volume::LastLink last, last_link(lookup));
  TRY(const auto times, times_of(accessed, modified, flags));
  TRY(const Place place, find_place(host, fd, path.text, Rights::kPathFilestatSetTimes, Change::kYes));
  TRY_VOID(place.tree->set_times(place.path, last, times));
  return {};
}

}  // namespace subako::wasi
