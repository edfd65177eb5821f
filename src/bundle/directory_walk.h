// A folder of the host read like an archive (spec: B1, B3): entries in bytewise order, links and devices
// told, never followed or opened. Whatever happens to the tree meanwhile (a file grows, goes, becomes a
// link), reading never leaves it, never waits for a pipe and stops at the bounds of Intake.
#pragma once

#include "bundle/intake.h"
#include "bundle/step.h"

namespace subako::bundle {

// `folder_fd` is a directory opened for reading; it stays the caller's, and its offset isn't used.
[[nodiscard]] Step<void> walk_directory(int folder_fd, Intake& intake);

}  // namespace subako::bundle
