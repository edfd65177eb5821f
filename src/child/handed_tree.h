// A folder or a file as a child is handed it: a mount of its own, which hangs nowhere. Who holds it can't leave it, by "..", an absolute
// path or otherwise, and what it may do there is the mount's to say, not the child's.
//
// The mount is there as long as its descriptor or a copy of it; what was opened beneath it stays usable. Renames and links don't cross mounts:
// folders between which they must work are opened beneath one (spec: F2). Needs may_make_mounts().
#pragma once

#include <sys/types.h>

#include <map>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace subako::child {

enum class Access { kRead, kWrite };

// Makes whoever owns a folder look like `id`, user and group, on a mount; what `id` makes there belongs to the owner. Everybody else
// stays who they are. Only for real root, and not on every file system.
class OwnerMaps {
 public:
  explicit OwnerMaps(uid_t id) : id_(id) {}
  // A user namespace that maps so, made once for each owner.
  [[nodiscard]] Result<int> of(uid_t user, gid_t group);

 private:
  uid_t id_;
  std::map<std::pair<uid_t, gid_t>, Fd> made_;
};

// `folder` stands for all beneath it but what is mounted there. nosuid, nodev, noexec; O_PATH. `maps` may be null; else `owned_like` is a
// folder whose owner is meant, or -1: `folder`.
[[nodiscard]] Result<Fd> mount_of_folder(int folder, Access access, OwnerMaps* maps, int owned_like = -1);
// A file that is open for reading, open for reading again. Read-only, so that its mode and times can't be changed either; it may be
// mapped as code.
[[nodiscard]] Result<Fd> mount_of_file(int file);

}  // namespace subako::child
