// What a Volume holds and may hold (spec: F5, L9): the sizes of its regular files, each once however many names it has, and its
// entries, which are all names in its trees but the trees' own.
#pragma once

#include <cstdint>

#include "base/limits.h"

namespace subako::volume {

struct Counts {
  uint64_t bytes = 0;
  uint64_t entries = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

inline constexpr Counts kMostCounts{limits::kVolumeBytes, limits::kVolumeEntries};

// Whether there is room for one entry more.
enum class Room : bool { kNone = false, kYes = true };

}  // namespace subako::volume
