#include <fcntl.h>
#include <sys/stat.h>

#include "base/result.h"
#include "wasi/cut.h"
#include "wasi/functions.h"
#include "wasi/place.h"

namespace subako::wasi {

namespace {

int kernel_flags(OpenFlags open, Rights base, FdFlags flags) {
  const bool reads = has(base, Rights::kFdRead);
  const bool writes = has(base, Rights::kFdWrite);
  // Emptied by us and not by O_TRUNC, as that takes long for a big file: for that the file must be open for writing. What the guest
  // may do with it is its descriptor's rights.
  const bool empties = has(open, OpenFlags::kTrunc);
  int all = writes ? (reads ? O_RDWR : O_WRONLY) : (empties ? O_RDWR : O_RDONLY);
  if (has(open, OpenFlags::kCreat)) {
    all |= O_CREAT;
    if (has(open, OpenFlags::kExcl)) all |= O_EXCL;  // without CREAT it says nothing
  }
  if (has(open, OpenFlags::kDirectory)) all |= O_DIRECTORY;
  if (has(flags, FdFlags::kAppend)) all |= O_APPEND;
  return all;  // how writes are synchronised is io.cc's: it lets others run meanwhile
}

Reply check_flags(LookupFlags lookup, OpenFlags open, Rights rights, FdFlags flags) {
  if (!has_only(lookup, LookupFlags::kAll) || !has_only(open, OpenFlags::kAll) ||
      !has_only(rights, Rights::kAll) || !has_only(flags, FdFlags::kAll)) {
    return refuse(Errno::kInval);
  }
  if (has(open, OpenFlags::kDirectory) && open != OpenFlags::kDirectory) return refuse(Errno::kInval);
  return {};
}

volume::CountedFile counted(Host& host, volume::Opened& opened, const Place& place) {
  if (host.ledger() == nullptr || !place.root->writable) return volume::CountedFile(std::move(opened.fd));
  return {std::move(opened.fd), *host.ledger(), opened.found};
}

Descriptor descriptor_of(Host& host, volume::Opened& opened, const Place& place, Rights asked, FdFlags flags) {
  if (opened.directory) {
    return {
        .what = Directory{.root = place.root, .opened = volume::Tree(std::move(opened.fd)), .listing = {}},
        .base = kDirectoryRights & place.from->inheriting,
        .inheriting = place.from->inheriting,
        .flags = flags};
  }
  constexpr Rights kReadWrite = Rights::kFdRead | Rights::kFdWrite;
  return {.what = File{.fd = counted(host, opened, place), .root = place.root},
          .base = without(kFileRights & place.from->inheriting, without(kReadWrite, asked)),
          .flags = flags};
}

// A file that has just been made isn't cut: ext4 would then write it to the disk when it is closed. One that was empty before is as
// if it were written to now.
std::errc empty(Host& host, File& file, const struct stat& found) {
  constexpr int64_t kSecond = 1'000'000'000;
  if (found.st_size > 0) {
    if (const std::errc error = set_size(file.fd.get(), 0); error != std::errc{}) return error;
    file.fd.settle(0);
  } else if (host.clock().realtime() / kSecond > found.st_mtim.tv_sec + 1) {
    const timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
    if (::futimens(file.fd.get(), now) != 0) return last_error();
  }
  return {};
}

// The file has its number already, which is what it answers when it is empty.
void begin_emptying(Host& host, FdNumber number) {
  const int file = host.descriptors().find(number)->file()->fd.get();
  host.begin_work([file](const auto& wanted) { return cut_in_steps(file, 0, wanted); },
                  {.done = static_cast<uint64_t>(number)});
}

Reply finish_emptying(Host& host, const OutPtr<FdNumber>& opened) {
  const auto number = static_cast<FdNumber>(host.progress().done);
  if (auto emptied = host.finish_work(); !emptied) {
    if (!host.at_work()) (void)host.descriptors().take(number);
    return std::unexpected(std::move(emptied).error());
  }
  TRY_VOID(settle(*host.descriptors().find(number)->file()));
  opened.set(number);
  return {};
}

}  // namespace

Reply path_open(Host& host, FdNumber fd, LookupFlags lookup, GuestPath path, OpenFlags open, Rights base,
                Rights inheriting, FdFlags flags, OutPtr<FdNumber> opened) {
  if (host.at_work()) return finish_emptying(host, opened);
  TRY_VOID(check_flags(lookup, open, base | inheriting, flags));
  const Rights asked = base & (Rights::kFdRead | Rights::kFdWrite);
  Rights needed = Rights::kPathOpen;
  if (has(open, OpenFlags::kCreat)) needed = needed | Rights::kPathCreateFile;
  if (has(open, OpenFlags::kTrunc)) needed = needed | Rights::kPathFilestatSetSize;
  const bool writes = has(asked, Rights::kFdWrite) || needed != Rights::kPathOpen;
  TRY(const Place place, find_place(host, fd, path.text, needed, writes ? Change::kYes : Change::kNo));
  if (!has(place.from->inheriting, asked)) return refuse(Errno::kNotCapable);
  TRY(const FdNumber number,
      host.descriptors().lowest_free());  // first: a file that has no number mustn't be made
  if (place.tree == nullptr) {
    const Rights kept = place.from->inheriting;
    host.descriptors().put(number,
                           {.what = Directory{.root = place.root, .opened = std::nullopt, .listing = {}},
                            .base = kDirectoryRights & kept,
                            .inheriting = kept,
                            .flags = flags});
  } else {
    const auto last =
        has(lookup, LookupFlags::kSymlinkFollow) ? volume::LastLink::kFollow : volume::LastLink::kStay;
    auto file = place.tree->open(place.path, kernel_flags(open, base, flags), last, host.room());
    if (!file) return refuse(host.not_made(file.error()));
    if (file->made) host.made();
    const struct stat& found = file->found;
    host.descriptors().put(number, descriptor_of(host, *file, place, asked, flags));
    if (has(open, OpenFlags::kTrunc)) {
      if (volume::frees_slowly(volume::freed_bytes(found))) {
        begin_emptying(host, number);
        return finish_emptying(host, opened);
      }
      if (const std::errc error = empty(host, *host.descriptors().find(number)->file(), found); error != std::errc{}) {
        (void)host.descriptors().take(number);
        return refuse(error);
      }
    }
  }
  opened.set(number);
  return {};
}

}  // namespace subako::wasi
