// A directory's entries as the kernel hands them out (spec: F2). Nothing of a directory is kept in memory:
// the cookies of fd_readdir are the kernel's own positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wasi/host.h"
#include "wasi/reply.h"

namespace subako::wasi {

// The directory opened for reading entries, once. Not for a virtual one. Its position is shared with nobody:
// not with another descriptor, nor with another call that has the same tree.
[[nodiscard]] Try<Listing*> listing_of(Host& host, Directory& directory);

// Entries from a cookie on, as bytes of dirents; the last one may be cut short by the end of the buffer.
class EntryWriter {
 public:
  explicit EntryWriter(std::span<std::byte> to) : to_(to) {}
  // False where the entry wasn't written whole.
  bool add(uint64_t next_cookie, uint64_t inode, FileType type, std::string_view name);
  [[nodiscard]] size_t used() const { return used_; }
  [[nodiscard]] size_t left() const { return to_.size() - used_; }

 private:
  bool append(std::span<const std::byte> bytes);
  std::span<std::byte> to_;
  size_t used_ = 0;
};

struct Filled {
  bool end = false;     // the directory's end came before the buffer's
  uint64_t cookie = 0;  // of the entry after the last whole one
};

// Writes until `out` is full, the directory ends, or `most` bytes are written.
[[nodiscard]] Try<Filled> fill(Host& host, Directory& directory, uint64_t cookie, size_t most,
                               EntryWriter& out);

}  // namespace subako::wasi
