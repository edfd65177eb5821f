// The maps of a user namespace that this process has just entered.
#pragma once

#include <sys/types.h>

namespace subako::child {

// `user` and `group` stay who they are, and are all that there is. The errno of what failed; else 0. Makes only async-signal-safe calls.
[[nodiscard]] int map_self(uid_t user, gid_t group);

// Writes `text` to a file that is there. The errno; else 0. As map_self().
[[nodiscard]] int write_file(const char* path, const char* text);

}  // namespace subako::child
