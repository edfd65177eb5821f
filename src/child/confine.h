// The second tier's way to keep a child inside the trees that it is handed: Landlock. For good, and for all threads that are started
// from then on: there may be one so far.
#pragma once

#include <span>

#include "base/result.h"
#include "child/handed_tree.h"

namespace subako::child {

struct ConfinedTree {
  int folder;
  Access access;
};

// Nothing but these can be opened from now on, by whatever path. What is open stays so.
[[nodiscard]] Result<void> confine_to(std::span<const ConfinedTree> trees);
// Has this kernel what that takes? None, or what it lacks.
[[nodiscard]] Result<void> can_confine();

}  // namespace subako::child
