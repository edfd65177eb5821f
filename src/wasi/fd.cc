// What is asked of a descriptor itself: its state, its rights, its name, its number, its end.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/result.h"
#include "wasi/functions.h"
#include "wasi/listing.h"
#include "wasi/place.h"

namespace subako::wasi {

namespace {

FileType type_of(Descriptor& descriptor) {
  if (descriptor.file() != nullptr) return FileType::kRegular;
  if (descriptor.directory() != nullptr) return FileType::kDirectory;
  return FileType::kUnknown;  // a pipe to the guest's libc: no terminal
}

Try<const Root*> preopen(Host& host, FdNumber fd) {
  Descriptor* found = host.descriptors().find(fd);
  if (found == nullptr || !found->preopen) return refuse(Errno::kBadf);
  return found->directory()->root;
}

// The kernel's descriptor to be synced, or -1: a virtual directory. Directories too, as on Linux: it makes a new name last.
Try<int> to_be_synced(Host& host, FdNumber fd, Rights right) {
  TRY(Descriptor * found, host.descriptor(fd, Rights::kNone));
  if (found->stream() != nullptr) return refuse(Errno::kBadf);
  TRY(found, host.descriptor(fd, right));
  if (const File* file = found->file()) return file->fd.get();
  Directory& directory = *found->directory();
  if (directory.is_virtual()) return -1;
  TRY(const Listing* listing, listing_of(host, directory));
  return listing->fd;
}

Reply sync(Host& host, FdNumber fd, Rights right, int (*call)(int)) {
  if (!host.at_work()) {
    TRY(const int file, to_be_synced(host, fd, right));
    if (file < 0) return {};
    host.begin_work([file, call](const auto&) { return call(file) == 0 ? std::errc{} : last_error(); });
  }
  TRY_VOID(host.finish_work());
  return {};
}

}  // namespace

Reply fd_advise(Host& host, FdNumber fd, uint64_t offset, uint64_t length, Advice advice) {
  TRY_VOID(host.file(fd, Rights::kFdAdvise));
  if (advice > Advice::kNoReuse || offset > INT64_MAX || length > INT64_MAX) return refuse(Errno::kInval);
  return {};  // advice may be left alone, and a guest's isn't the machine's
}

Reply fd_allocate(Host& host, FdNumber fd, uint64_t, uint64_t) {  // spec: F3
  TRY_VOID(host.file(fd, Rights::kFdAllocate));
  return refuse(Errno::kNotSup);
}

Reply fd_close(Host& host, FdNumber fd) {
  if (!host.at_work()) {
    TRY(Descriptor gone, host.descriptors().take(fd));
    return host.close(slow_to_close(std::move(gone)));
  }
  TRY_VOID(host.finish_work());
  return {};
}

Reply fd_renumber(Host& host, FdNumber from, FdNumber to) {
  if (!host.at_work()) {
    TRY(std::optional<Descriptor> gone, host.descriptors().renumber(from, to));
    if (!gone) return {};
    return host.close(slow_to_close(*std::move(gone)));
  }
  TRY_VOID(host.finish_work());
  return {};
}

Reply fd_sync(Host& host, FdNumber fd) {
  return sync(host, fd, Rights::kFdSync, ::fsync);
}
Reply fd_datasync(Host& host, FdNumber fd) {
  return sync(host, fd, Rights::kFdDatasync, ::fdatasync);
}

Reply fd_fdstat_get(Host& host, FdNumber fd, OutPtr<Fdstat> stat) {
  TRY(Descriptor * found, host.descriptor(fd, Rights::kNone));
  stat.set({.filetype = type_of(*found),
            .flags = static_cast<uint16_t>(found->flags),
            .base = found->base,
            .inheriting = found->inheriting});
  return {};
}

Reply fd_fdstat_set_flags(Host& host, FdNumber fd, FdFlags flags) {
  if (!has_only(flags, FdFlags::kAll)) return refuse(Errno::kInval);
  TRY(Descriptor * found, host.descriptor(fd, Rights::kNone));
  if (found->directory() != nullptr) return refuse(Errno::kBadf);
  TRY(found, host.descriptor(fd, Rights::kFdFdstatSetFlags));
  // As for fcntl(F_SETFL): how writes are synchronised stays as the file was opened. Dropping it is passed
  // over, since a libc writes back what it read without the flags that it doesn't know; asking for it isn't.
  constexpr FdFlags kChangeable = FdFlags::kAppend | FdFlags::kNonblock;
  if (!has(found->flags, without(flags, kChangeable))) return refuse(Errno::kNotSup);
  if (File* file = found->file()) {
    const int append = has(flags, FdFlags::kAppend) ? O_APPEND : 0;
    if (::fcntl(file->fd.get(), F_SETFL, append | O_NONBLOCK) != 0)
      return refuse(last_error());
  }
  found->flags = without(found->flags, kChangeable) | (flags & kChangeable);
  return {};
}

Reply fd_fdstat_set_rights(Host& host, FdNumber fd, Rights base, Rights inheriting) {
  if (!has_only(base | inheriting, Rights::kAll)) return refuse(Errno::kInval);
  TRY(Descriptor * found, host.descriptor(fd, Rights::kNone));
  if (!has_only(base, found->base) || !has_only(inheriting, found->inheriting))
    return refuse(Errno::kNotCapable);
  found->base = base;
  found->inheriting = inheriting;
  return {};
}

Reply fd_prestat_get(Host& host, FdNumber fd, OutPtr<Prestat> prestat) {
  TRY(const Root* root, preopen(host, fd));
  prestat.set({.tag = 0, .name_length = static_cast<uint32_t>(root->path.size())});
  return {};
}

Reply fd_prestat_dir_name(Host& host, FdNumber fd, GuestBuffer name) {
  TRY(const Root* root, preopen(host, fd));
  if (name.bytes.size() < root->path.size()) return refuse(Errno::kNameTooLong);
  std::ranges::copy(std::as_bytes(std::span(root->path)), name.bytes.begin());
  return {};
}

}  // namespace subako::wasi
