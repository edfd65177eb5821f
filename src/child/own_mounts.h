// The right to make mounts, which handing trees to children takes (child/handed_tree.h) and starting them in namespaces (child/spawn.h).
#pragma once

#include "base/result.h"

namespace subako::child {

// Has this process CAP_SYS_ADMIN over its own mounts?
[[nodiscard]] bool may_make_mounts();

// Where it hasn't: puts it into a user and a mount namespace of its own, in which it has; user and group stay who they are, every other
// one's files look as if they were nobody's. First thing in main(): the kernel wants a single thread, and what is opened before
// belongs to the mounts of before. An Error leaves everything as it was, and says what is forbidden.
[[nodiscard]] Result<void> take_own_mounts();

}  // namespace subako::child
