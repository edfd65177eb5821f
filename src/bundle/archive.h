// An archive as a sequence of entries (spec: B1). Implementations: tar_archive.h, zip_archive.h.
//
// They are our own, on zlib, because of what was measured with libarchive 3.6: outside a UTF-8 locale, which a static
// executable with an empty root can't load, it loses every name that isn't ASCII; it takes a tar cut off between two entries
// for a whole one; and its zip reader needs four more decompressors and ciphers.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/refusal.h"
#include "bundle/step.h"

namespace subako::bundle {

enum class EntryKind { kFile, kFolder, kSymlink, kHardLink, kDevice, kFifo, kSocket, kSparse, kUnknown };

struct Entry {
  std::string path;  // the bytes of the archive, judged by nobody yet
  EntryKind kind = EntryKind::kFile;
  std::string unreadable;  // why its bytes can't be had (encrypted, ...): one sentence, else empty; then
                           // there is nothing to read
};

class Archive {
 public:
  virtual ~Archive() = default;
  // The next entry; none at the proper end of the archive. What was not read of the last one is passed over.
  [[nodiscard]] virtual Step<std::optional<Entry>> next() = 0;
  // Bytes of the entry that next() gave; 0 at its end, when sizes and checksums were right.
  [[nodiscard]] virtual Step<size_t> read(std::span<char> out) = 0;
};

// Rule B1, at the entry called `path` (raw; may be empty).
[[nodiscard]] Refusal damaged(std::string_view path, std::string what);

}  // namespace subako::bundle
