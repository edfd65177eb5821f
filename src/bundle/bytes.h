// The bytes of an archive file (spec: B3): read where they are asked for, never by a size that the archive
// names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bundle/step.h"

namespace subako::bundle {

// Bytes in order, as a stream.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // At least one byte, unless this is the end (0). `out` is not empty.
  [[nodiscard]] virtual Step<size_t> read(std::span<char> out) = 0;
};

// Reads until `out` is full or the source ends; how many bytes there were.
[[nodiscard]] Step<size_t> read_full(ByteSource& source, std::span<char> out);

// A regular file, by position: the descriptor's own offset is neither used nor moved. The descriptor stays
// the caller's.
class FileBytes final : public ByteSource {
 public:
  // Refuses what is larger than limits::kBundleArchiveBytes; an Error where `fd` is no regular file.
  [[nodiscard]] static Step<FileBytes> open(int fd);

  [[nodiscard]] Step<size_t> read(std::span<char> out) override;
  // As many bytes as there are at `offset`, at most out.size().
  [[nodiscard]] Step<size_t> read_at(uint64_t offset, std::span<char> out) const;
  [[nodiscard]] uint64_t size() const { return size_; }  // when it was opened
  void rewind() { position_ = 0; }

 private:
  FileBytes(int fd, uint64_t size) : fd_(fd), size_(size) {}

  int fd_;
  uint64_t size_;
  uint64_t position_ = 0;
};

}  // namespace subako::bundle
