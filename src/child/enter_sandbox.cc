#include "child/enter_sandbox.h"

#include <grp.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <utility>

#include "child/capabilities.h"
#include "child/filter.h"
#include "child/id_maps.h"
#include "child/spawn.h"

namespace subako::child {

namespace {

std::unexpected<Error> failed(const char* what, int error = errno) {
  return std::unexpected(system_error(std::string("shutting a child process in (") + what + ")", error));
}

// A process that becomes another user loses its effective capabilities; with the permitted ones kept it may still make a user
// namespace where only root may.
Result<void> become(uid_t id) {
  if (prctl(PR_SET_KEEPCAPS, 1) != 0) return failed("keeping capabilities");
  if (setgroups(0, nullptr) != 0) return failed("leaving root's groups");
  if (setresgid(id, id, id) != 0) return failed("leaving root's group");
  if (setresuid(id, id, id) != 0) return failed("becoming another user than root");
  auto sets = capabilities();
  if (!sets) return failed("looking at capabilities");
  for (auto& set : *sets) set.effective = set.permitted;
  if (!set_capabilities(*sets)) return failed("keeping capabilities");
  // Else its own files in /proc are root's.
  if (prctl(PR_SET_DUMPABLE, 1) != 0) return failed("its own files in /proc");
  return {};
}

// pivot_root(".", ".") lays the old root over the new one, from where it is taken off. /proc is a folder that is there and not
// needed any more.
Result<void> take_empty_root() {
  constexpr const char* kPlace = "/proc";
  constexpr unsigned long kNothing = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return failed("keeping its mounts from others");
  if (mount("none", kPlace, "tmpfs", kNothing, "size=4k,nr_inodes=1,mode=555") != 0)
    return failed("an empty folder for a root");
  if (chdir(kPlace) != 0 || syscall(SYS_pivot_root, ".", ".") != 0)
    return failed("changing to an empty root");
  if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) return failed("leaving the old root");
  if (mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | kNothing, nullptr) != 0)
    return failed("making the empty root read-only");
  return {};
}

// Threads are counted for each user namespace from Linux 5.14 on, earlier for the user, whose other processes would count. Real root's
// aren't bounded by the kernel.
Result<void> limit_threads() {
  utsname system{};
  unsigned major = 0;
  unsigned minor = 0;
  if (uname(&system) != 0 || sscanf(system.release, "%u.%u", &major, &minor) != 2) return {};
  if (std::pair(major, minor) < std::pair(5U, 14U)) return {};
  rlimit threads{};
  if (getrlimit(RLIMIT_NPROC, &threads) != 0) return failed("looking at its limit of threads");
  threads.rlim_max = std::min<rlim_t>(threads.rlim_max, kMostThreads);
  threads.rlim_cur = std::min(threads.rlim_cur, threads.rlim_max);
  if (setrlimit(RLIMIT_NPROC, &threads) != 0) return failed("limiting its threads");
  return {};
}

Result<void> enter_namespaces(const std::optional<uid_t>& id) {
  if (id) TRY_VOID(become(*id));
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0)
    return failed("making namespaces");
  if (const int error = map_self(user, group); error != 0) return failed("mapping its user", error);
  // Not before: it would be the bound of all children together.
  TRY_VOID(limit_threads());
  return take_empty_root();
}

// For good: nothing gives one back, not even executing a program of root's.
Result<void> drop_capabilities() {
  constexpr unsigned long kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                  SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                  SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED | SECBIT_KEEP_CAPS_LOCKED;
  // Refused to who has none to drop: then no_new_privs alone sees to it.
  if (prctl(PR_SET_SECUREBITS, kBits) != 0 && errno != EPERM) return failed("locking its security bits");
  for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability) != 0 && errno != EPERM) return failed("dropping capabilities");
  }
  if (!set_capabilities({})) return failed("dropping capabilities");
  return {};
}

// Core's end of the socket is closed once core has ended.
bool core_has_ended(int socket) {
  pollfd watched{.fd = socket, .events = 0, .revents = 0};
  return poll(&watched, 1, 0) == 1 && (watched.revents & POLLHUP) != 0;
}

// The first process of its namespace isn't ended by a signal that it neither handles nor gets from outside: not by its own abort(), nor by its
// limit of CPU time.
void end_by(int signal) {
  _exit(kExitBySignal + signal);
}
void end_by_own_signals() {
  for (const int number : {SIGABRT, SIGXCPU}) {
    struct sigaction action{};
    action.sa_handler = end_by;
    (void)sigaction(number, &action, nullptr);
  }
}

}  // namespace

std::vector<std::string> arguments_of(const Cell& cell) {
  std::vector<std::string> words{std::string(tier_name(cell.tier))};
  if (cell.id) words.push_back(std::to_string(*cell.id));
  return words;
}

std::optional<Cell> cell_of(const char* const* words, int count) {
  if (count == 0) return Cell{};
  const auto tier = tier_named(words[0]);
  if (!tier || count > 2) return std::nullopt;
  Cell cell{*tier, {}};
  if (count == 1) return cell;
  const std::string_view text = words[1];
  uid_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id == 0) return std::nullopt;
  cell.id = id;
  return cell;
}

Result<void> enter_sandbox(Role role, const Cell& cell, int socket) {
  if (cell.tier == Tier::kNone) return {};
  // Where memory is short, the kernel takes a child rather than core or anything else. Where it may not be said, nothing is lost.
  (void)write_file("/proc/self/oom_score_adj", "500");
  if (cell.tier == Tier::kNamespaces) {
    TRY_VOID(enter_namespaces(cell.id));
    end_by_own_signals();
  }
  // Its user's keys stay behind; seccomp forbids to come back to them.
  (void)syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  TRY_VOID(drop_capabilities());
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("giving up new privileges");
  if (prctl(PR_SET_DUMPABLE, 0) != 0) return failed("keeping its memory from others");
  // Forgotten when the user changed. Core may have ended before it was said again.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return failed("asking to end with its parent");
  if (core_has_ended(socket))
    return fail(Code::kCancelled, "shutting a child process in: its parent has ended");
  return set_filter(role, cell.tier);
}

}  // namespace subako::child
