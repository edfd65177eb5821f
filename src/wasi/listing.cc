#include "wasi/listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/result.h"
#include "wasi/filestat.h"
#include "wasi/place.h"

namespace subako::wasi {

namespace {

struct Entry {
  uint64_t inode = 0;
  uint64_t next = 0;
  uint8_t type = DT_UNKNOWN;
  const char* name = nullptr;
  size_t length = 0;  // of the whole record
};

// One record of getdents64(2).
Entry entry_at(const std::byte* bytes) {
  dirent64 head{};
  std::memcpy(&head, bytes, offsetof(dirent64, d_name));
  return {.inode = head.d_ino,
          .next = static_cast<uint64_t>(head.d_off),
          .type = head.d_type,
          .name = reinterpret_cast<const char*>(bytes) + offsetof(dirent64, d_name),
          .length = head.d_reclen};
}

bool is_dots(std::string_view name) {
  return name == "." || name == "..";
}

FileType type_in(int directory, const Entry& entry) {
  if (entry.type != DT_UNKNOWN) return type_of(static_cast<mode_t>(DTTOIF(entry.type)));
  struct stat found{};
  if (::fstatat(directory, entry.name, &found, AT_SYMLINK_NOFOLLOW) != 0) return FileType::kUnknown;
  return type_of(found.st_mode);
}

// "." is what fd_filestat_get says. ".." of a root is the root itself: nothing is known of what lies above.
Try<uint64_t> inode_of_dots(const Directory& directory, int listing, const Entry& entry) {
  struct stat here{};
  if (::fstat(listing, &here) != 0) return refuse(last_error());
  if (std::string_view(entry.name) == ".") return here.st_ino;
  struct stat root{};
  if (::fstat(directory.root->tree->fd(), &root) != 0) return refuse(last_error());
  const bool is_root = root.st_dev == here.st_dev && root.st_ino == here.st_ino;
  return is_root ? here.st_ino : entry.inode;
}

// Waits for all of its trees, so that an entry's inode is always that of the directory it leads to.
Try<Filled> fill_virtual(Host& host, const Directory& directory, uint64_t cookie, EntryWriter& out) {
  uint64_t index = 0;
  const auto add = [&](uint64_t inode, std::string_view name) {
    return index++ < cookie || out.add(index, inode, FileType::kDirectory, name);
  };
  if (!add(kVirtualInode, ".") || !add(kVirtualInode, "..")) return Filled{};
  for (const Root& child : host.roots()) {
    const std::string_view name = name_beneath(*directory.root, child);
    if (name.empty()) continue;
    if (child.has_tree && !child.tree) return refuse(host.wait({}));
    struct stat found{};
    if (child.tree && ::fstat(child.tree->fd(), &found) != 0) return refuse(last_error());
    if (!add(child.tree ? found.st_ino : kVirtualInode, name)) return Filled{};
  }
  return Filled{.end = true, .cookie = index};
}

// False: no such position, which is one that was never handed out.
Try<bool> seek(Listing& listing, uint64_t cookie) {
  if (listing.at == cookie && cookie != 0) return true;  // 0 begins anew: new entries may be there
  if (cookie > INT64_MAX) return false;
  if (::lseek(listing.fd, static_cast<off_t>(cookie), SEEK_SET) < 0) {
    if (errno == EINVAL) return false;
    return refuse(last_error());
  }
  listing.at = cookie;
  return true;
}

}  // namespace

Try<Listing*> listing_of(Host& host, Directory& directory) {
  Listing& listing = directory.listing;
  if (listing.fd < 0 && directory.opened) listing.fd = directory.opened->fd();
  if (listing.fd < 0) {
    TRY(const volume::Tree* tree, tree_of(host, directory));
    TRY(auto opened, tree->open(".", O_RDONLY | O_DIRECTORY, volume::LastLink::kStay));
    listing.own = std::move(opened.fd);
    listing.fd = listing.own.get();
  }
  return &listing;
}

bool EntryWriter::append(std::span<const std::byte> bytes) {
  const size_t count = std::min(bytes.size(), left());
  std::ranges::copy(bytes.first(count), to_.subspan(used_).begin());
  used_ += count;
  return count == bytes.size();
}

bool EntryWriter::add(uint64_t next_cookie, uint64_t inode, FileType type, std::string_view name) {
  const Dirent head{.next = next_cookie,
                    .inode = inode,
                    .name_length = static_cast<uint32_t>(name.size()),
                    .filetype = type};
  return append(std::as_bytes(std::span(&head, 1))) && append(std::as_bytes(std::span(name)));
}

Try<Filled> fill(Host& host, Directory& directory, uint64_t cookie, size_t most, EntryWriter& out) {
  if (directory.is_virtual()) return fill_virtual(host, directory, cookie, out);
  TRY(Listing * listing, listing_of(host, directory));
  const int fd = listing->fd;
  TRY(const bool known, seek(*listing, cookie));
  if (!known) return Filled{.end = true, .cookie = cookie};
  Filled filled{.end = false, .cookie = cookie};
  // About as much as still fits, since what is read too much must be read again: a record of the kernel's is
  // about as long as one of the guest's, and one alone always fits.
  alignas(dirent64) std::array<std::byte, 4096> records;
  while (out.left() > 0 && out.used() < most) {
    const ssize_t count =
        ::getdents64(fd, records.data(), std::clamp<size_t>(out.left(), 1024, records.size()));
    if (count < 0) return refuse(last_error());
    if (count == 0) return Filled{.end = true, .cookie = filled.cookie};
    listing->at.reset();
    for (size_t at = 0; at < static_cast<size_t>(count);) {
      const Entry entry = entry_at(&records[at]);
      uint64_t inode = entry.inode;
      if (is_dots(entry.name)) {
        TRY(inode, inode_of_dots(directory, fd, entry));
      }
      if (!out.add(entry.next, inode, type_in(fd, entry), entry.name)) return filled;
      filled.cookie = entry.next;
      at += entry.length;
    }
    listing->at = filled.cookie;
  }
  return filled;
}

}  // namespace subako::wasi
