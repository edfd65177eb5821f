// The central directory of a zip (spec: B1, B3): where its entries lie and what they are. It alone says what
// the archive holds; it must lie directly before its end record and have exactly as many entries as that
// says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bundle/archive.h"
#include "bundle/bytes.h"

namespace subako::bundle {

struct ZipEntry {
  std::string path;  // at most one byte longer than a path may be; `path_bytes` is what the archive says
  uint16_t path_bytes = 0;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t packed_bytes = 0;
  uint64_t bytes = 0;
  uint64_t header_at = 0;  // of its local header
  EntryKind kind = EntryKind::kFile;
};

struct ZipDirectory {
  std::vector<ZipEntry> entries;  // by header_at
  uint64_t begins_at = 0;
};

// Refuses archives of several parts and those with more than limits::kBundleEntries entries.
[[nodiscard]] Step<ZipDirectory> read_zip_directory(const FileBytes& file);

// Little-endian numbers of `bytes`, which must be long enough.
[[nodiscard]] uint16_t le16(const char* bytes);
[[nodiscard]] uint32_t le32(const char* bytes);
[[nodiscard]] uint64_t le64(const char* bytes);

}  // namespace subako::bundle
