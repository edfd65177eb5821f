#include "child/filter.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <memory>

namespace subako::child {

namespace {

struct Release {
  void operator()(void* context) const { seccomp_release(context); }
};

constexpr uint64_t kSpecialBits = 07000;  // set-user-ID, set-group-ID, sticky

// Allowed whatever their arguments are.
constexpr int kAllowed[] = {
    // files, by descriptors and beneath them; with an empty root, or Landlock, there is nothing else
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(write), SCMP_SYS(writev),
    SCMP_SYS(pwrite64), SCMP_SYS(pwritev), SCMP_SYS(pwritev2), SCMP_SYS(preadv2), SCMP_SYS(lseek),
    SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(openat2),
    SCMP_SYS(getdents64), SCMP_SYS(readlinkat), SCMP_SYS(unlinkat), SCMP_SYS(renameat), SCMP_SYS(renameat2),
    SCMP_SYS(linkat), SCMP_SYS(symlinkat), SCMP_SYS(utimensat), SCMP_SYS(ftruncate), SCMP_SYS(fsync),
    SCMP_SYS(fdatasync), SCMP_SYS(fadvise64), SCMP_SYS(dup), SCMP_SYS(memfd_create), SCMP_SYS(eventfd2),
    // the socket to core
    SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(recvfrom), SCMP_SYS(poll), SCMP_SYS(ppoll),
    // memory
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
    // threads and their signals
    SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(restart_syscall), SCMP_SYS(getpid),
    SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
    SCMP_SYS(getrlimit), SCMP_SYS(getrusage), SCMP_SYS(sysinfo), SCMP_SYS(getcpu),
    // time and chance
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getrandom)};

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM))) {
    // 32-bit and x32 calls have numbers of their own: nothing here makes one.
    note(context_ == nullptr
             ? -ENOMEM
             : seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
  }

  void allow(int call) { add(SCMP_ACT_ALLOW, call, {}); }
  void allow(int call, scmp_arg_cmp one) { add(SCMP_ACT_ALLOW, call, {one}); }
  void allow(int call, scmp_arg_cmp one, scmp_arg_cmp two) { add(SCMP_ACT_ALLOW, call, {one, two}); }
  void not_there(int call) { add(SCMP_ACT_ERRNO(ENOSYS), call, {}); }

  // 0, or the first error.
  [[nodiscard]] int load() {
    if (error_ == 0) note(seccomp_load(context_.get()));
    return error_;
  }

 private:
  void note(int result) {
    if (result < 0 && error_ == 0) error_ = -result;
  }
  void add(uint32_t action, int call, std::initializer_list<scmp_arg_cmp> compared) {
    if (error_ != 0) return;
    note(seccomp_rule_add_array(context_.get(), action, call, static_cast<unsigned>(compared.size()),
                                compared.begin()));
  }

  std::unique_ptr<void, Release> context_;
  int error_ = 0;
};

constexpr scmp_arg_cmp is(unsigned argument, uint64_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}
// For an int: what is above its 32 bits is anybody's.
constexpr scmp_arg_cmp is_int(unsigned argument, uint32_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, 0xFFFF'FFFF, value};
}
constexpr scmp_arg_cmp masked(unsigned argument, uint64_t mask, uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void allow_with_arguments(Filter& filter) {
  // Nothing is made that takes its owner's rights when it is executed. openat2 keeps its mode in memory, where no filter can look.
  filter.allow(SCMP_SYS(openat), masked(3, kSpecialBits, 0));
  filter.allow(SCMP_SYS(mkdirat), masked(2, kSpecialBits, 0));
  for (const int command :
       {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_ADD_SEALS, F_GET_SEALS})
    filter.allow(SCMP_SYS(fcntl), is_int(1, static_cast<uint32_t>(command)));
  // Code is mapped as data and then made executable, never both writable and executable.
  filter.allow(SCMP_SYS(mmap), masked(2, PROT_EXEC, 0));
  for (const uint64_t how : {uint64_t{0}, uint64_t{PROT_WRITE}, uint64_t{PROT_EXEC}})
    filter.allow(SCMP_SYS(mprotect), masked(2, PROT_WRITE | PROT_EXEC, how));
  // Threads, no processes, and no namespaces.
  constexpr uint64_t kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                                   CLONE_NEWUTS | CLONE_NEWCGROUP;
  filter.allow(SCMP_SYS(clone), masked(0, CLONE_THREAD | kNamespaces, CLONE_THREAD));
  filter.not_there(SCMP_SYS(clone3));  // its flags are in memory
  filter.allow(SCMP_SYS(tgkill), is_int(0, static_cast<uint32_t>(getpid())));
  filter.allow(SCMP_SYS(prctl), is_int(0, PR_SET_NAME));
  filter.allow(SCMP_SYS(prlimit64), is_int(0, 0), is(2, 0));  // its own limits, to read
}

}  // namespace

Result<void> set_filter(Role role, Tier tier) {
  Filter filter;
  for (const int call : kAllowed) filter.allow(call);
  allow_with_arguments(filter);
#ifdef __SANITIZE_ADDRESS__
  // A sanitizer asks by a pipe what can be read, and looks for its own executable and maps to name places.
  for (const int call : {SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(readlink), SCMP_SYS(open)})
    filter.allow(call);
#endif
  if (role == Role::kBuilder) {
    // Of the assets that it unpacks, whatever the mask of new files' modes was.
    filter.allow(SCMP_SYS(fchmod), is_int(1, 0444));
    filter.allow(SCMP_SYS(fchmodat), is_int(2, 0755));
  }
  if (tier == Tier::kLandlock) {  // child/confine.h
    for (const int call : {SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self})
      filter.allow(call);
  }
  if (const int error = filter.load(); error != 0)
    return std::unexpected(system_error("shutting a child process in (filtering system calls)", error));
  return {};
}

}  // namespace subako::child
