#include "child/own_mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "child/capabilities.h"
#include "child/id_maps.h"

namespace subako::child {

namespace {

// Of all the rights that come with a namespace, this one: others would let us read what our user may not, such as a file of its own
// without permissions.
bool keep_right_to_mount() {
  CapabilitySets sets{};
  sets[0].effective = sets[0].permitted = 1U << CAP_SYS_ADMIN;
  return set_capabilities(sets);
}

// The right is worth nothing where the mounts are another user namespace's, or the system forbids its use. The errno; 0 where it is not.
int make_mount() {
  const Fd mount(open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
  return mount.valid() ? 0 : errno;
}

// The errno of what failed; 0 where all went well.
int take() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
  if (const int error = map_self(user, group); error != 0) return error;
  return keep_right_to_mount() ? 0 : errno;
}

// Some systems allow the namespace and then nothing in it (AppArmor's profile of unprivileged user namespaces), from where there is no
// way back: so a process that has nothing to lose tries first.
int try_in_another_process() {
  const pid_t pid = fork();
  if (pid < 0) return errno;
  if (pid == 0) {
    const int error = take();
    _exit(error != 0 ? error : make_mount());
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

}  // namespace

bool may_make_mounts() {
  const auto sets = capabilities();
  return sets && ((*sets)[0].effective & (1U << CAP_SYS_ADMIN)) != 0 && make_mount() == 0;
}

Result<void> take_own_mounts() {
  if (may_make_mounts()) return {};
  int error = try_in_another_process();
  if (error == 0) error = take();
  if (error == 0) return {};
  return std::unexpected(system_error("making a user namespace", error));
}

}  // namespace subako::child
