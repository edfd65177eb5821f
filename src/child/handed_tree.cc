#include "child/handed_tree.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "child/id_maps.h"

namespace subako::child {

namespace {

constexpr uint64_t kIds = 0xFFFF'FFFF;  // but for the last, which means "nobody asked"

// "<first> <outside> <count>" for each range: `owner` on the disk is `id` to who looks, everybody else is who they are, and nobody
// on the disk is `id`, whose place is taken.
std::string map_text(uint64_t owner, uint64_t id) {
  std::string text;
  const auto same = [&text, owner, id](uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end;) {
      if (at == owner || at == id) {
        ++at;
        continue;
      }
      uint64_t stop = end;
      for (const uint64_t hole : {owner, id}) {
        if (hole > at && hole < stop) stop = hole;
      }
      text += std::to_string(at) + " " + std::to_string(at) + " " + std::to_string(stop - at) + "\n";
      at = stop;
    }
  };
  same(0, kIds);
  text += std::to_string(owner) + " " + std::to_string(id) + " 1\n";
  return text;
}

// A process that only holds its user namespace, until it is killed.
class Holder {
 public:
  Holder() {
    const pid_t parent = getpid();
    pid_ = static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    error_ = errno;
    if (pid_ != 0) return;
    // It ends with this process, whenever that is.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    for (;;) syscall(SYS_pause);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    if (pid_ <= 0) return;
    (void)kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  [[nodiscard]] bool valid() const { return pid_ > 0; }
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] std::string file(const char* name) const {
    return "/proc/" + std::to_string(pid_) + "/" + name;
  }

 private:
  pid_t pid_ = -1;
  int error_ = 0;
};

Result<Fd> mount_of(int fd, uint64_t attributes, int user_namespace) {
  const auto failed = [] {
    return std::unexpected(system_error("making a mount of its own of what a child is handed", errno));
  };
  Fd mount(open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH));
  if (!mount.valid() && errno == EINVAL) {  // who isn't root may not uncover what mounts hide
    return fail(Code::kDenied,
                "a folder can't be handed to a child process where something is mounted beneath it (a mount "
                "of its own would uncover what that hides): name another");
  }
  if (!mount.valid()) return failed();
  mount_attr attr{};
  attr.attr_set = attributes | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (user_namespace >= 0) {
    attr.attr_set |= MOUNT_ATTR_IDMAP;
    attr.userns_fd = static_cast<uint64_t>(user_namespace);
  }
  if (mount_setattr(mount.get(), "", AT_EMPTY_PATH, &attr, sizeof attr) != 0) return failed();
  return mount;
}

}  // namespace

Result<int> OwnerMaps::of(uid_t user, gid_t group) {
  if (const auto made = made_.find({user, group}); made != made_.end()) return made->second.get();
  const auto failed = [](int error) {
    return std::unexpected(system_error("making a user namespace for a tree's owner", error));
  };
  const Holder holder;
  if (!holder.valid()) return failed(holder.error());
  for (const auto& [file, text] :
       {std::pair{"uid_map", map_text(user, id_)}, std::pair{"gid_map", map_text(group, id_)}}) {
    if (const int error = write_file(holder.file(file).c_str(), text.c_str()); error != 0)
      return failed(error);
  }
  Fd opened(open(holder.file("ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened.valid()) return failed(errno);
  return made_.emplace(std::pair{user, group}, std::move(opened)).first->second.get();
}

Result<Fd> mount_of_folder(int folder, Access access, OwnerMaps* maps, int owned_like) {
  const uint64_t attributes = MOUNT_ATTR_NOEXEC | (access == Access::kRead ? MOUNT_ATTR_RDONLY : 0);
  if (maps == nullptr) return mount_of(folder, attributes, -1);
  struct stat s{};
  if (fstat(owned_like >= 0 ? owned_like : folder, &s) != 0)
    return std::unexpected(system_error("looking at a folder that a child is handed", errno));
  TRY(const int user_namespace, maps->of(s.st_uid, s.st_gid));
  auto mount = mount_of(folder, attributes, user_namespace);
  if (mount) return mount;
  Error error = std::move(mount).error();
  error.message +=
      "; where its file system can't show another owner (idmapped mounts), copy it to one that can, or run "
      "as its owner";
  return std::unexpected(std::move(error));
}

Result<Fd> mount_of_file(int file) {
  TRY(const Fd mount, mount_of(file, MOUNT_ATTR_RDONLY, -1));
  Fd opened(open(("/proc/self/fd/" + std::to_string(mount.get())).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!opened.valid()) return std::unexpected(system_error("opening a module for a worker", errno));
  return opened;
}

}  // namespace subako::child
