#include <fcntl.h>

#include <string>

#include "base/result.h"
#include "wasi/functions.h"
#include "wasi/place.h"

namespace subako::wasi {

namespace {

int kernel_flags(OpenFlags open, Rights base, FdFlags flags) {
  const bool reads = has(base, Rights::kFdRead);
  const bool writes = has(base, Rights::kFdWrite);
  int all = writes ? (reads ? O_RDWR : O_WRONLY) : O_RDONLY;
  if (has(open, OpenFlags::kCreat)) {
    all |= O_CREAT;
    if (has(open, OpenFlags::kExcl)) all |= O_EXCL;  // without CREAT it says nothing
  }
  if (has(open, OpenFlags::kDirectory)) all |= O_DIRECTORY;
  if (has(open, OpenFlags::kTrunc)) all |= O_TRUNC;
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

// A big file is emptied by a thread of its own first, so that the open finds nothing more to do.
Reply empty_big_file(Host& host, const Place& place, OpenFlags open, volume::LastLink last) {
  if (host.at_work()) return host.finish_work();
  if (!has(open, OpenFlags::kTrunc) || (has(open, OpenFlags::kCreat) && has(open, OpenFlags::kExcl))) return {};
  const auto found = place.tree->stat(place.path, last);
  if (!found || !volume::frees_slowly(*found)) return {};  // what is wrong, the open tells
  TRY(volume::Tree tree, place.tree->again());
  return host.work([tree = std::move(tree), path = std::string(place.path), last] {
    const auto opened = tree.open(path, O_WRONLY | O_TRUNC, last);
    return opened ? std::errc{} : opened.error();
  });
}

Descriptor descriptor_of(volume::Opened opened, const Place& place, Rights asked, FdFlags flags) {
  if (opened.directory) {
    return {
        .what = Directory{.root = place.root, .opened = volume::Tree(std::move(opened.fd)), .listing = {}},
        .base = kDirectoryRights & place.from->inheriting,
        .inheriting = place.from->inheriting,
        .flags = flags};
  }
  constexpr Rights kReadWrite = Rights::kFdRead | Rights::kFdWrite;
  return {.what = File{.fd = std::move(opened.fd), .root = place.root},
          .base = without(kFileRights & place.from->inheriting, without(kReadWrite, asked)),
          .flags = flags};
}

}  // namespace

Reply path_open(Host& host, FdNumber fd, LookupFlags lookup, GuestPath path, OpenFlags open, Rights base,
                Rights inheriting, FdFlags flags, OutPtr<FdNumber> opened) {
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
    TRY_VOID(empty_big_file(host, place, open, last));
    TRY(auto file, place.tree->open(place.path, kernel_flags(open, base, flags), last));
    host.descriptors().put(number, descriptor_of(std::move(file), place, asked, flags));
  }
  opened.set(number);
  return {};
}

}  // namespace subako::wasi
