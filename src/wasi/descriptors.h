// The guest's descriptor table (spec: F6): its own numbers, from 0, the lowest free one first, at most 1,024.
// A number of the host never shows.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/fd.h"
#include "volume/ledger.h"
#include "volume/tree.h"
#include "wasi/reply.h"
#include "wasi/types.h"

namespace subako::wasi {

// A preopened directory's place in the guest's world; it lasts as long as the Host, so that what was opened
// beneath it outlives the guest's own descriptor of it.
struct Root {
  std::string path;
  bool writable = false;
  bool has_tree = true;
  std::optional<volume::Tree> tree;  // none: virtual, or not bound yet
};

enum class Stream : uint8_t { kStdin, kStdout, kStderr };

struct File {
  volume::CountedFile fd;
  const Root* root = nullptr;
  uint64_t offset = 0;  // ours and not the kernel's: reads and writes are all positioned
};

// A directory open for getdents64, and the cookie at which the kernel stands.
struct Listing {
  int fd = -1;  // not open yet
  std::optional<uint64_t> at;
  Fd own;  // of a preopened directory, which other calls share
};

struct Directory {
  const Root* root = nullptr;
  std::optional<volume::Tree> opened;  // none: the root itself
  Listing listing;                     // made by the first fd_readdir

  // None where the root is virtual or not bound yet.
  [[nodiscard]] const volume::Tree* tree() const {
    if (opened) return &*opened;
    return root->tree ? &*root->tree : nullptr;
  }
  [[nodiscard]] bool is_virtual() const { return !root->has_tree; }
};

struct Descriptor {
  std::variant<Stream, File, Directory> what;
  Rights base = Rights::kNone;
  Rights inheriting = Rights::kNone;
  FdFlags flags = FdFlags::kNone;
  bool preopen = false;

  [[nodiscard]] const Stream* stream() const { return std::get_if<Stream>(&what); }
  [[nodiscard]] File* file() { return std::get_if<File>(&what); }
  [[nodiscard]] Directory* directory() { return std::get_if<Directory>(&what); }
};

// Asks how long the file has become and has it counted (spec: F5): after work of another thread.
[[nodiscard]] Reply settle(File& file);

// The file of a descriptor that goes, where closing it may take long; else it is closed here. A big file may be freed by it, or what was
// written to it be brought to the disk (ext4 does that after a truncation; a network's file systems always). For the ledger it is closed
// now (spec: F5).
[[nodiscard]] Fd slow_to_close(Descriptor gone);

class Descriptors {
 public:
  explicit Descriptors(size_t most) : most_(most) {}

  [[nodiscard]] Descriptor* find(FdNumber fd);
  // The number that put() may be given next; kMfile where there is none. Ask before opening anything for it.
  [[nodiscard]] Try<FdNumber> lowest_free() const;
  void put(FdNumber fd, Descriptor descriptor);

  // What it was: it is closed where that goes.
  [[nodiscard]] Try<Descriptor> take(FdNumber fd);
  // Moves `from` to `to`, which must be open and is taken by it; onto itself it does nothing.
  [[nodiscard]] Try<std::optional<Descriptor>> renumber(FdNumber from, FdNumber to);
  // All of them are about to be closed, by another thread if that may take long, which this tells; for the ledger they are closed now.
  [[nodiscard]] bool about_to_close();

 private:
  size_t most_;
  std::deque<std::optional<Descriptor>> table_;  // whose elements stay where they are
};

// The rights that a descriptor has that nobody took any from. What a guest asks for when it opens a file
// decides only about reading and writing; the others come along as far as they apply, as on the reference
// hosts: toolchains ask for odd sets. fd_fdstat_set_rights can take each away, and what is gone is gone. A
// read-only tree shows the rights of any other: what it refuses, it refuses as kPerm.
inline constexpr Rights kStdinRights =
    Rights::kFdRead | Rights::kFdFdstatSetFlags | Rights::kFdFilestatGet | Rights::kPollFdReadwrite;
inline constexpr Rights kOutputRights =
    Rights::kFdWrite | Rights::kFdFdstatSetFlags | Rights::kFdFilestatGet | Rights::kPollFdReadwrite;
inline constexpr Rights kFileRights =
    Rights::kFdDatasync | Rights::kFdRead | Rights::kFdSeek | Rights::kFdFdstatSetFlags | Rights::kFdSync |
    Rights::kFdTell | Rights::kFdWrite | Rights::kFdAdvise | Rights::kFdAllocate | Rights::kFdFilestatGet |
    Rights::kFdFilestatSetSize | Rights::kFdFilestatSetTimes | Rights::kPollFdReadwrite;
inline constexpr Rights kDirectoryRights =
    Rights::kFdDatasync | Rights::kFdSync | Rights::kFdFilestatGet | Rights::kFdFilestatSetTimes |
    Rights::kPathCreateDirectory | Rights::kPathCreateFile | Rights::kPathLinkSource |
    Rights::kPathLinkTarget | Rights::kPathOpen | Rights::kFdReaddir | Rights::kPathReadlink |
    Rights::kPathRenameSource | Rights::kPathRenameTarget | Rights::kPathFilestatGet |
    Rights::kPathFilestatSetSize | Rights::kPathFilestatSetTimes | Rights::kPathSymlink |
    Rights::kPathRemoveDirectory | Rights::kPathUnlinkFile;
inline constexpr Rights kInheritingRights = kFileRights | kDirectoryRights;

}  // namespace subako::wasi
