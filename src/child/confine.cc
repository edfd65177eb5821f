#include "child/confine.h"

#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

namespace subako::child {

namespace {

// Debian 12's headers know version 2; what came later, by its number.
constexpr uint64_t kTruncate = uint64_t{1} << 14U;     // version 3
constexpr uint64_t kIoctlDevice = uint64_t{1} << 15U;  // version 5
constexpr uint64_t kAllTcp = 3;                        // version 4: bind, connect
constexpr uint64_t kAllScopes = 3;                     // version 6: abstract Unix sockets, signals
constexpr int kLeastVersion = 3;                       // links and renames between trees, and truncation
struct Ruleset {                                       // as the newest version that is used here
  uint64_t files = 0;
  uint64_t net = 0;
  uint64_t scoped = 0;
};

constexpr uint64_t kReading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kWriting = kReading | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                              LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
                              LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM |
                              LANDLOCK_ACCESS_FS_REFER | kTruncate;

int version() {
  return static_cast<int>(syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

std::unexpected<Error> failed(const char* what) {
  return std::unexpected(
      system_error(std::string("shutting a child process in (Landlock: ") + what + ")", errno));
}

Result<Fd> make_ruleset(int known) {
  Ruleset all;
  all.files = (LANDLOCK_ACCESS_FS_REFER << 1U) - 1;  // up to version 2
  if (known >= 3) all.files |= kTruncate;
  if (known >= 4) all.net = kAllTcp;
  if (known >= 5) all.files |= kIoctlDevice;
  if (known >= 6) all.scoped = kAllScopes;
  const size_t size = known >= 6 ? 24 : known >= 4 ? 16 : 8;
  Fd rules(static_cast<int>(syscall(SYS_landlock_create_ruleset, &all, size, 0)));
  if (!rules.valid()) return failed("making rules");
  return rules;
}

}  // namespace

Result<void> can_confine() {
  const int known = version();
  if (known < 0) return std::unexpected(system_error("Landlock", errno));
  if (known >= kLeastVersion) return {};
  return fail(Code::kUnsupported, "Landlock: the kernel has version " + std::to_string(known) +
                                      " of it, and version " + std::to_string(kLeastVersion) +
                                      " is needed (Linux 6.2)");
}

Result<void> confine_to(std::span<const ConfinedTree> trees) {
  TRY_VOID(can_confine());
  TRY(const Fd rules, make_ruleset(version()));
  for (const ConfinedTree& tree : trees) {
    const landlock_path_beneath_attr rule{
        .allowed_access = tree.access == Access::kWrite ? kWriting : kReading, .parent_fd = tree.folder};
    if (syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
      return failed("adding a tree");
  }
  if (syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) return failed("confining itself");
  return {};
}

}  // namespace subako::child
