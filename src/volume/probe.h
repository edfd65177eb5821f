// Whether this machine can keep paths inside a tree at all (spec: F2). Asked at start and by `doctor`:
// without openat2(2), as under some sandboxes and old gVisor, nothing that touches a guest's paths may run.
#pragma once

#include "base/result.h"

namespace subako::volume {

[[nodiscard]] Result<void> probe_openat2();

}  // namespace subako::volume
