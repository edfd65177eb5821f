// Which system calls a child may make (seccomp), decided once for its life and that of its threads: what is on the list, with the
// arguments that are looked at; all else answers EPERM, or ENOSYS where the C library then takes an older call.
#pragma once

#include "base/result.h"
#include "child/enter_sandbox.h"

namespace subako::child {

// Needs no_new_privs.
[[nodiscard]] Result<void> set_filter(Role role, Tier tier);

}  // namespace subako::child
