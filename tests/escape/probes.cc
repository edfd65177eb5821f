#include "escape/probes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "child/enter_sandbox.h"

namespace subako::escape {

namespace {

using child::Tier;

bool opens(int at, const std::string& path, int flags) {
  return Fd(openat(at, path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600)).valid();
}

// Of a folder: another one than `tree`, whose contents can be read.
bool leads_out(int tree, int at, const char* path) {
  struct stat here{};
  struct stat there{};
  const Fd folder(openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid() || fstat(tree, &here) != 0 || fstat(folder.get(), &there) != 0) return false;
  errno = 0;
  return here.st_ino != there.st_ino || here.st_dev != there.st_dev;
}

bool connects(int family, const void* address, size_t size) {
  const Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket.valid() &&
         connect(socket.get(), static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) == 0;
}
bool connects_unix(const std::string& name, bool abstract) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  return connects(AF_UNIX, &address, offsetof(sockaddr_un, sun_path) + name.size() + 1);
}
bool connects_tcp(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connects(AF_INET, &address, sizeof address);
}

bool forks(long flags) {
  const long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) _exit(0);
  if (pid > 0) (void)waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return pid > 0;
}

// Of threads that stand still until all are there.
bool starts_threads(unsigned count) {
  std::vector<pthread_t> threads;
  pthread_attr_t small;
  pthread_attr_init(&small);
  (void)pthread_attr_setstacksize(&small, size_t{64} * 1024);
  sem_t all;
  sem_init(&all, 0, 0);
  const auto wait = [](void* semaphore) -> void* {
    while (sem_wait(static_cast<sem_t*>(semaphore)) != 0) {
    }
    return nullptr;
  };
  int error = 0;
  while (error == 0 && threads.size() < count) {
    pthread_t thread{};
    error = pthread_create(&thread, &small, wait, &all);
    if (error == 0) threads.push_back(thread);
  }
  for (size_t i = 0; i < threads.size(); ++i) sem_post(&all);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  pthread_attr_destroy(&small);
  sem_destroy(&all);
  errno = error;
  return error == 0;
}

bool call(long result) {
  return result >= 0;
}
bool call_fd(long result) {
  return Fd(static_cast<int>(result)).valid();
}

bool makes(const Target& t, const char* name, mode_t mode) {
  const bool made = Fd(openat(t.volume, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode)).valid();
  if (made) (void)unlinkat(t.volume, name, 0);
  return made;
}
Fd own_file(const Target& t) {
  return Fd(openat(t.volume, "mine", O_RDWR | O_CLOEXEC));
}

bool maps(int fd, int protection, int flags) {
  void* const at = mmap(nullptr, 4096, protection, flags, fd, 0);
  if (at == MAP_FAILED) return false;
  munmap(at, 4096);
  return true;
}
bool becomes(int fd, int flags, int first, int then) {
  void* const at = mmap(nullptr, 4096, first, flags, fd, 0);
  if (at == MAP_FAILED) return false;
  const bool changed = mprotect(at, 4096, then) == 0;
  const int error = errno;
  munmap(at, 4096);
  errno = error;
  return changed;
}

bool makes_node(const Target& t, mode_t type) {
  const bool made = mknodat(t.volume, "node", type | 0600, makedev(1, 3)) == 0;
  if (made) (void)unlinkat(t.volume, "node", 0);
  return made;
}

bool reads_through_a_link(const Target& t) {
  (void)unlinkat(t.volume, "link", 0);
  return symlinkat(t.secret.c_str(), t.volume, "link") == 0 && opens(t.volume, "link", O_RDONLY);
}

// All of a file's own numbers for open_by_handle_at().
bool opens_by_handle(const Target& t) {
  struct {
    file_handle head;
    std::array<unsigned char, 128> room;
  } handle{};
  handle.head.handle_bytes = sizeof handle.room;
  int mount = 0;
  return name_to_handle_at(t.volume, "mine", &handle.head, &mount, 0) == 0 &&
         call_fd(open_by_handle_at(t.volume, &handle.head, O_RDONLY));
}

bool makes_writable(const Target& t) {
  mount_attr attr{};
  attr.attr_clr = MOUNT_ATTR_RDONLY;
  return mount_setattr(t.package, "", AT_EMPTY_PATH, &attr, sizeof attr) == 0;
}

void add_paths(std::vector<Probe>& all) {
  all.push_back({"open /etc/passwd", [](const Target&) { return opens(AT_FDCWD, "/etc/passwd", O_RDONLY); }});
  all.push_back(
      {"list the host's root", [](const Target& t) { return leads_out(t.volume, AT_FDCWD, "/etc"); }});
  all.push_back({"a handed folder's parent by ..",
                 [](const Target& t) { return leads_out(t.volume, t.volume, ".."); }});
  all.push_back({"a read-only folder's parent by ..",
                 [](const Target& t) { return leads_out(t.package, t.package, ".."); }});
  all.push_back({"a handed folder's parent by fchdir", [](const Target& t) {
                   return fchdir(t.volume) == 0 && leads_out(t.volume, AT_FDCWD, "..");
                 }});
  all.push_back({"a handed folder's parent by /proc/self/fd", [](const Target& t) {
                   return leads_out(t.volume, AT_FDCWD,
                                    ("/proc/self/fd/" + std::to_string(t.volume) + "/..").c_str());
                 }});
  all.push_back({"another session's Volume by its path",
                 [](const Target& t) { return opens(AT_FDCWD, t.secret, O_RDONLY); }});
  all.push_back({"another session's Volume by ..",
                 [](const Target& t) { return opens(t.volume, "../../other/secret", O_RDONLY); }});
  all.push_back({"a file beside tmp/ by ..", [](const Target& t) { return opens(t.volume, "../secret", O_RDONLY); }});
  all.push_back({"a file beside tmp/ by .., for writing",
                 [](const Target& t) { return opens(t.volume, "../secret", O_WRONLY); }});
  all.push_back({"a data/ that isn't enabled", [](const Target& t) { return opens(t.volume, "../data/theirs", O_RDONLY); }});
  all.push_back({"another session's Volume by a link", reads_through_a_link});
  all.push_back({"write to another session's Volume",
                 [](const Target& t) { return opens(AT_FDCWD, t.secret, O_WRONLY); }});
  all.push_back({"that it is there",
                 [](const Target& t) {
                   struct stat s{};
                   return stat(t.secret.c_str(), &s) == 0;
                 },
                 Tier::kNamespaces});
  all.push_back({"open a file by its handle", opens_by_handle});
  all.push_back({"/proc/self/mem", [](const Target&) { return opens(AT_FDCWD, "/proc/self/mem", O_RDWR); }});
  all.push_back({"core's memory", [](const Target& t) {
                   return opens(AT_FDCWD, "/proc/" + std::to_string(t.core) + "/mem", O_RDONLY);
                 }});
  all.push_back({"core_pattern",
                 [](const Target&) { return opens(AT_FDCWD, "/proc/sys/kernel/core_pattern", O_WRONLY); }});
  all.push_back({"/dev/null", [](const Target&) { return opens(AT_FDCWD, "/dev/null", O_RDWR); }});
}

void add_network(std::vector<Probe>& all) {
  for (const auto& [name, family] : {std::pair{"a Unix socket", AF_UNIX},
                                     {"an internet socket", AF_INET},
                                     {"a netlink socket", AF_NETLINK}})
    all.push_back({name, [family](const Target&) { return call_fd(socket(family, SOCK_DGRAM, 0)); }});
  all.push_back({"a socket pair", [](const Target&) {
                   int ends[2];
                   return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0;
                 }});
  all.push_back(
      {"connect to a Unix socket", [](const Target& t) { return connects_unix(t.unix_path, false); }});
  all.push_back({"connect to an abstract Unix socket",
                 [](const Target& t) { return connects_unix(t.abstract_name, true); }});
  all.push_back({"connect by TCP", [](const Target& t) { return connects_tcp(t.tcp_port); }});
}

void add_processes(std::vector<Probe>& all) {
  all.push_back({"fork", [](const Target&) { return forks(0); }});
  all.push_back({"clone with a user namespace", [](const Target&) { return forks(CLONE_NEWUSER); }});
  all.push_back({"execute a program of the host's", [](const Target&) {
                   execl("/bin/true", "true", nullptr);
                   return false;
                 }});
  all.push_back({"execute what is open", [](const Target&) {
                   const Fd program(memfd_create("program", 0));
                   char* const arguments[] = {nullptr};
                   (void)!write(program.get(), "#!/bin/true\n", 12);
                   return call(syscall(SYS_execveat, program.get(), "", arguments, arguments, AT_EMPTY_PATH));
                 }});
  all.push_back({"threads without end", [](const Target&) { return starts_threads(child::kMostThreads); },
                 Tier::kNamespaces});
  all.push_back({"ptrace", [](const Target&) { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0; }});
  all.push_back({"signal core", [](const Target& t) { return kill(t.core, 0) == 0; }});
  all.push_back({"signal a thread of core's",
                 [](const Target& t) { return call(syscall(SYS_tgkill, t.core, t.core, 0)); }});
  all.push_back({"signal everybody", [](const Target&) { return kill(-1, 0) == 0; }});
  all.push_back({"hold core", [](const Target& t) { return call_fd(syscall(SYS_pidfd_open, t.core, 0)); }});
  all.push_back({"take a descriptor of core's", [](const Target& t) {
                   const Fd core(static_cast<int>(syscall(SYS_pidfd_open, t.core, 0)));
                   return call_fd(syscall(SYS_pidfd_getfd, core.get(), 0, 0));
                 }});
  all.push_back({"read core's memory", [](const Target& t) {
                   std::array<char, 8> here{};
                   const iovec to{here.data(), here.size()};
                   const iovec from{&errno, here.size()};
                   return process_vm_readv(t.core, &to, 1, &from, 1, 0) > 0 ||
                          errno == EFAULT;  // allowed; nothing is there
                 }});
  all.push_back({"limit another process", [](const Target& t) {
                   rlimit limit{};
                   return prlimit(t.core, RLIMIT_CORE, nullptr, &limit) == 0;
                 }});
}

void add_namespaces(std::vector<Probe>& all) {
  all.push_back({"mount", [](const Target&) { return mount("none", "/", "tmpfs", 0, nullptr) == 0; }});
  all.push_back({"begin a mount", [](const Target&) { return call_fd(fsopen("tmpfs", 0)); }});
  all.push_back({"copy the root's mount",
                 [](const Target&) { return call_fd(open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE)); }});
  all.push_back({"copy a mount", [](const Target& t) {
                   return call_fd(open_tree(t.volume, "", OPEN_TREE_CLONE | AT_EMPTY_PATH));
                 }});
  all.push_back({"make a read-only mount writable", makes_writable});
  all.push_back({"unmount", [](const Target&) { return umount2("/proc", MNT_DETACH) == 0; }});
  all.push_back({"chroot", [](const Target& t) { return fchdir(t.volume) == 0 && chroot(".") == 0; }});
  all.push_back({"a user namespace", [](const Target&) { return unshare(CLONE_NEWUSER) == 0; }});
  all.push_back({"a mount namespace", [](const Target&) { return unshare(CLONE_NEWNS) == 0; }});
  all.push_back({"another's namespace", [](const Target& t) {
                   const Fd core(static_cast<int>(syscall(SYS_pidfd_open, t.core, 0)));
                   return setns(core.get(), CLONE_NEWUTS) == 0;
                 }});
  all.push_back({"become root", [](const Target&) { return setresuid(0, 0, 0) == 0; }});
  all.push_back({"be dumped again", [](const Target&) { return prctl(PR_SET_DUMPABLE, 1) == 0; }});
  all.push_back({"another personality", [](const Target&) { return personality(ADDR_NO_RANDOMIZE) >= 0; }});
}

void add_kernel(std::vector<Probe>& all) {
  all.push_back({"keys", [](const Target&) {
                   return call(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1));
                 }});
  all.push_back({"io_uring", [](const Target&) {
                   io_uring_params parameters{};
                   return call_fd(syscall(SYS_io_uring_setup, 1, &parameters));
                 }});
  all.push_back({"bpf", [](const Target&) {
                   bpf_attr attr{};
                   attr.map_type = BPF_MAP_TYPE_ARRAY;
                   attr.key_size = attr.value_size = 4;
                   attr.max_entries = 1;
                   return call_fd(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr));
                 }});
  all.push_back({"perf", [](const Target&) {
                   perf_event_attr attr{};
                   attr.type = PERF_TYPE_SOFTWARE;
                   attr.size = sizeof attr;
                   attr.exclude_kernel = 1;
                   return call_fd(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
                 }});
  all.push_back({"userfaultfd", [](const Target&) { return call_fd(syscall(SYS_userfaultfd, 1)); }});
  all.push_back({"the kernel's log", [](const Target&) { return klogctl(10, nullptr, 0) >= 0; }});
  all.push_back({"any ioctl", [](const Target& t) {
                   int flags = 0;
                   const Fd file = own_file(t);
                   return ioctl(file.get(), FS_IOC_GETFLAGS, &flags) == 0;
                 }});
}

void add_files(std::vector<Probe>& all) {
  for (const auto& [name, type] :
       {std::pair{"a device", S_IFCHR}, {"a pipe", S_IFIFO}, {"a socket file", S_IFSOCK}})
    all.push_back({name, [type](const Target& t) { return makes_node(t, type); }});
  all.push_back({"a set-user-ID file", [](const Target& t) { return makes(t, "suid", 04755); }});
  all.push_back({"a set-group-ID folder", [](const Target& t) {
                   const bool made = mkdirat(t.volume, "sgid", 02777) == 0;
                   if (made) (void)unlinkat(t.volume, "sgid", AT_REMOVEDIR);
                   return made;
                 }});
  all.push_back(
      {"set-user-ID afterwards", [](const Target& t) { return fchmod(own_file(t).get(), 04755) == 0; }});
  all.push_back(
      {"set-user-ID by name", [](const Target& t) { return fchmodat(t.volume, "mine", 04755, 0) == 0; }});
  all.push_back({"give a file away", [](const Target& t) { return fchown(own_file(t).get(), 1, 1) == 0; }});
  all.push_back({"extended attributes",
                 [](const Target& t) { return fsetxattr(own_file(t).get(), "user.a", "b", 1, 0) == 0; }});
  all.push_back(
      {"write beside an asset", [](const Target& t) { return opens(t.package, "new", O_WRONLY | O_CREAT); }});
  all.push_back({"write to an asset", [](const Target& t) { return opens(t.package, "asset", O_WRONLY); }});
  all.push_back(
      {"a folder beside an asset", [](const Target& t) { return mkdirat(t.package, "folder", 0700) == 0; }});
  all.push_back({"move an asset",
                 [](const Target& t) { return renameat(t.package, "asset", t.package, "moved") == 0; }});
  all.push_back({"remove an asset", [](const Target& t) {
                   return unlinkat(t.package, "moved", 0) == 0 || unlinkat(t.package, "asset", 0) == 0;
                 }});
}

void add_modules(std::vector<Probe>& all) {
  all.push_back(
      {"write to the module", [](const Target& t) { return write(t.module, "x", 1) == 1; }, Tier::kNone});
  all.push_back({"cut the module", [](const Target& t) { return ftruncate(t.module, 0) == 0; }, Tier::kNone});
  all.push_back({"map the module for writing",
                 [](const Target& t) { return maps(t.module, PROT_READ | PROT_WRITE, MAP_SHARED); },
                 Tier::kNone});
  all.push_back({"the module's mode", [](const Target& t) { return fchmod(t.module, 0777) == 0; }});
  // Where the kernel allows no mounts, an owner may set its times.
  all.push_back({"the module's times", [](const Target& t) { return futimens(t.module, nullptr) == 0; },
                 Tier::kNamespaces});
  all.push_back({"open the module for writing", [](const Target& t) {
                   return opens(AT_FDCWD, "/proc/self/fd/" + std::to_string(t.module), O_RDWR);
                 }});
  all.push_back({"map a file of the Volume as code", [](const Target& t) {
                   return maps(own_file(t).get(), PROT_READ | PROT_EXEC, MAP_PRIVATE);
                 }});
  all.push_back({"make a file of the Volume code",
                 [](const Target& t) {
                   return becomes(own_file(t).get(), MAP_PRIVATE, PROT_READ, PROT_READ | PROT_EXEC);
                 },
                 Tier::kNamespaces});
  all.push_back({"memory that is writable and code", [](const Target&) {
                   return becomes(-1, MAP_PRIVATE | MAP_ANONYMOUS, PROT_READ,
                                  PROT_READ | PROT_WRITE | PROT_EXEC);
                 }});
}

}  // namespace

std::vector<Probe> escapes() {
  std::vector<Probe> all;
  add_paths(all);
  add_network(all);
  add_namespaces(all);
  add_kernel(all);
  add_modules(all);
  add_files(all);
  add_processes(all);
  return all;
}

std::vector<Probe> escapes_with_data() {
  std::vector<Probe> all;
  all.push_back({"the parent of the folder around both", [](const Target& t) {
                   const Fd root(openat(t.volume, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
                   return root.valid() && leads_out(root.get(), root.get(), "..");
                 }});
  all.push_back({"another session's Volume by ..",
                 [](const Target& t) { return opens(t.volume, "../../other/secret", O_RDONLY); }});
  all.push_back({"another session's Volume by its path",
                 [](const Target& t) { return opens(AT_FDCWD, t.secret, O_RDONLY); }});
  return all;
}

std::vector<Probe> necessities() {
  std::vector<Probe> all;
  all.push_back({"a file in the Volume", [](const Target& t) { return makes(t, "new", 0600); }});
  all.push_back(
      {"read a file of the Volume", [](const Target& t) { return opens(t.volume, "mine", O_RDWR); }});
  all.push_back({"a folder in the Volume", [](const Target& t) {
                   return mkdirat(t.volume, "folder", 0700) == 0 &&
                          unlinkat(t.volume, "folder", AT_REMOVEDIR) == 0;
                 }});
  all.push_back({"move and link a file of the Volume", [](const Target& t) {
                   return renameat(t.volume, "mine", t.volume, "moved") == 0 &&
                          linkat(t.volume, "moved", t.volume, "mine", 0) == 0 &&
                          unlinkat(t.volume, "moved", 0) == 0;
                 }});
  all.push_back({"read an asset", [](const Target& t) { return opens(t.package, "asset", O_RDONLY); }});
  all.push_back({"run the module", [](const Target& t) {
                   return becomes(t.module, MAP_PRIVATE, PROT_READ, PROT_READ | PROT_EXEC);
                 }});
  all.push_back({"some threads", [](const Target&) { return starts_threads(child::kMostThreads / 2); }});
  all.push_back({"a thread", [](const Target&) {
                   std::thread([] {}).join();
                   return true;
                 }});
  return all;
}

}  // namespace subako::escape
