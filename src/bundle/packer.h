// `subako pack`: a bundle becomes a reproducible .tar.gz (spec: B1, B3, B4). The same tree gives the same
// bytes whatever its times, owners, modes and order on disk; entries are sorted bytewise. What
// read_bundle() would refuse is refused the same way, and nothing is written then.
//
// The tree is held in memory (64 MiB at most) and so is packed as it was read, once. Descriptors stay the
// caller's.
#pragma once

#include <cstdint>
#include <expected>

#include "base/refusal.h"
#include "base/result.h"

namespace subako::bundle {

struct Packed {
  uint64_t bytes = 0;  // of the .tar.gz
  uint32_t files = 0;  // in it, folders not counted
};

struct Packing {
  std::expected<Packed, Refusals> bundle;
  Warnings warnings;  // files of macOS left out, members of the manifest that aren't known
};

// `bundle_fd`: a directory or a file holding an archive.
[[nodiscard]] Result<Packing> pack_bundle(int bundle_fd, int out_fd);

}  // namespace subako::bundle
