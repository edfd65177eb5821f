// Counts a Volume by walking it (spec: F5): a folder that was there before, or one whose ledger went with its worker. Nobody should change it
// meanwhile; if somebody does, the walk still ends, and stays inside.
//
// Links are not followed, hard links counted once. However deep the trees are, few descriptors are open, and memory goes with the depth and
// with the number of files that have several names.
#pragma once

#include <functional>
#include <span>

#include "base/result.h"
#include "volume/counts.h"

namespace subako::volume {

// `roots`: the trees' directories, opened for reading or as paths. kCancelled soon after `give_up()`; kDenied and the like where a
// directory can't be read, kConflict where one was moved meanwhile.
[[nodiscard]] Result<Counts> count_trees(std::span<const int> roots, const std::function<bool()>& give_up);

}  // namespace subako::volume
