#include "child/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "base/limits.h"
#include "base/quote.h"

namespace subako::child {

namespace {

constexpr int kSocketOfChild = 3;
constexpr int kAboveStandard = 10;  // where descriptors are moved while 0 to 3 are laid out

// Everything the child's side needs, made before it begins: it may not allocate.
struct Plan {
  const char* executable = nullptr;
  char* const* argv = nullptr;
  int socket = -1;
  int says = -1;    // what becomes its stderr; -1: ours
  int report = -1;  // a close-on-exec pipe: a Fault where exec was not reached, end of file where it was
  pid_t parent = -1;
  const SpawnOptions* options = nullptr;

  [[nodiscard]] bool in_namespace() const { return options->cell.tier == Tier::kNamespaces; }
  [[nodiscard]] int clone_flags() const { return SIGCHLD | (in_namespace() ? CLONE_NEWPID : 0); }
};

struct Fault {
  const char* what = nullptr;  // a literal: the same address in the parent
  int error = 0;
};

[[noreturn]] void give_up(int report, const char* what) {
  const Fault fault{what, errno};
  (void)!write(report, &fault, sizeof fault);
  _exit(127);
}

bool set_limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  const rlimit limit{soft, hard};
  return setrlimit(resource, &limit) == 0;
}

// As set_limit(), but where somebody has set a tighter one already, that holds: it can't be raised.
bool set_limit_at_most(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  rlimit inherited{};
  if (getrlimit(resource, &inherited) != 0) return false;
  return set_limit(resource, std::min(soft, inherited.rlim_max), std::min(hard, inherited.rlim_max));
}

bool limit_resources(const SpawnOptions& options) {
  // Memory files apart, nothing that a child keeps in the kernel's own memory is of use to it.
  for (const auto resource : {RLIMIT_CORE, RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE}) {
    if (!set_limit(resource, 0, 0)) return false;
  }
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) (void)set_limit(RLIMIT_NOFILE, files.rlim_max, files.rlim_max);
  if (options.cpu_limit) {
    // SIGXCPU at the soft limit tells the limit from another kill; the hard one is for a child that ignores
    // it.
    const auto seconds = static_cast<rlim_t>(options.cpu_limit->count());
    if (!set_limit_at_most(RLIMIT_CPU, seconds, seconds + 1)) return false;
  }
  if (options.file_limit && !set_limit_at_most(RLIMIT_FSIZE, *options.file_limit, *options.file_limit))
    return false;
  return !options.memory_limit || set_limit_at_most(RLIMIT_AS, *options.memory_limit, *options.memory_limit);
}

// Signals that the parent ignores or blocks would stay so across exec.
void reset_signals() {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) (void)sigaction(number, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool close_the_rest() {
  if (syscall(SYS_close_range, kSocketOfChild + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return true;
  // The kernel has no such call, or not yet this flag, or a filter forbids it.
  if (errno != ENOSYS && errno != EINVAL && errno != EPERM) return false;
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return false;
  const int end = static_cast<int>(std::min<rlim_t>(files.rlim_max, 1U << 20U));
  for (int fd = kSocketOfChild + 1; fd < end; ++fd) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
  return true;
}

bool lay_out_descriptors(int socket, int says) {
  const int opened = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int null = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, kAboveStandard);
  if (null < 0) return false;
  if (says >= 0 && dup2(says, STDERR_FILENO) < 0) return false;
  if (fcntl(STDERR_FILENO, F_GETFD) < 0 && dup2(null, STDERR_FILENO) < 0) return false;
  return dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
         dup2(socket, kSocketOfChild) >= 0 && close_the_rest();
}

[[noreturn]] void become_child(Plan plan) {
  // The report pipe may sit on 0 to 3 where the parent was started without standard streams.
  const int report = fcntl(plan.report, F_DUPFD_CLOEXEC, kAboveStandard);
  if (report < 0 && errno == EINVAL) errno = EMFILE;  // the limit lies below these numbers
  if (report < 0) give_up(plan.report, "keeping the report pipe");
  const int socket = fcntl(plan.socket, F_DUPFD_CLOEXEC, kAboveStandard);
  if (socket < 0) give_up(report, "keeping the socket");
  const int says = plan.says < 0 ? -1 : fcntl(plan.says, F_DUPFD_CLOEXEC, kAboveStandard);
  if (plan.says >= 0 && says < 0) give_up(report, "keeping its standard error");
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(report, "asking to end with its parent");
  // Has it died already? Then no signal will come. A namespace of its own hides it: the child looks at its socket then.
  if (!plan.in_namespace() && getppid() != plan.parent) _exit(127);
  if (setsid() < 0) give_up(report, "making a session of its own");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up(report, "giving up new privileges");
  if (chdir("/") != 0) give_up(report, "changing to the root folder");
  if (!lay_out_descriptors(socket, says)) give_up(report, "laying out its descriptors");
  if (!limit_resources(*plan.options)) give_up(report, "setting its resource limits");
  reset_signals();
  char* const environment[] = {nullptr};
  execve(plan.executable, plan.argv, environment);
  give_up(report, "starting the executable");
}

// No handler of ours may run in the child before it is another program.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { (void)pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

#ifdef __SANITIZE_ADDRESS__
// A sanitizer takes a thread on another stack for a fault.
pid_t fork_child(const Plan& plan) {
  const AllSignalsBlocked blocked;
  const auto pid = static_cast<pid_t>(syscall(SYS_clone, plan.clone_flags(), 0, 0, 0, 0));
  if (pid == 0) become_child(plan);
  return pid;
}
#else
int enter_child(void* plan) {
  become_child(*static_cast<const Plan*>(plan));
}

// Until it is another program, the child lives in our memory, on a stack of its own, and this thread stands still: a copy of the
// page tables would cost 0.4 ms in a small process and 10 ms in one of 200 MiB, against 0.1 ms (measured). What it sets (signals,
// limits, folder, descriptors) is its own; what it writes to memory is its stack and errno.
pid_t fork_child(const Plan& plan) {
  const AllSignalsBlocked blocked;
  constexpr size_t kStackBytes = size_t{64} * 1024;
  alignas(16) std::array<std::byte, kStackBytes> stack;
  return clone(enter_child, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | plan.clone_flags(), const_cast<Plan*>(&plan));
}
#endif

Result<void> read_report(int report, const std::string& executable) {
  Fault fault;
  ssize_t n = 0;
  do {
    n = read(report, &fault, sizeof fault);
  } while (n < 0 && errno == EINTR);
  if (n == 0) return {};
  if (n != sizeof fault) return fail(Code::kInternal, "the child process died before it could start");
  return std::unexpected(system_error("starting " + executable + " (" + fault.what + ")", fault.error));
}

}  // namespace

bool over_cpu(const ExitStatus& status, std::chrono::seconds limit) {
  return status.signal == SIGXCPU || (status.signal == SIGKILL && status.cpu >= limit);
}

bool over_memory(const ExitStatus& status, uint64_t limit) {
  const bool large = status.peak_resident_bytes > limit / 2;
  return status.code == kExitOutOfMemory || (status.signal == SIGABRT && large);
}

namespace {

std::string how_it_ended(const ExitStatus& status) {
  if (!status.known) return "ended, but how is unknown (something else waited for it)";
  if (status.signal == SIGXCPU) return "passed its limit of CPU time";
  if (status.signal == SIGKILL) return "was killed by signal 9 (Killed); the machine may be out of memory";
  if (status.signal != 0) {
    return "was killed by signal " + std::to_string(status.signal) + " (" + strsignal(status.signal) + ")";
  }
  if (status.code == kExitOutOfMemory) return "ran out of memory";
  if (status.code == kExitNotShutIn) return "could not shut itself in (subako doctor tells why)";
  return "exited with status " + std::to_string(status.code);
}

std::string read_said(int says) {
  std::string said(kSaidBytes, '\0');
  ssize_t n = 0;
  do {
    n = read(says, said.data(), said.size());
  } while (n < 0 && errno == EINTR);
  said.resize(n > 0 ? static_cast<size_t>(n) : 0);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return said;
}

}  // namespace

std::string exit_sentence(const ExitStatus& status) {
  return how_it_ended(status) + (status.said.empty() ? "" : "; it said " + in_quotes(status.said));
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      socket_(std::move(other.socket_)),
      says_(std::move(other.says_)),
      exit_(std::move(other.exit_)) {}

// A killed process is gone within milliseconds, but where a thread of it stands still in the kernel: freeing a big file can take a
// slow disk minutes. Nobody waits for that; whoever is there then takes its end.
Child::~Child() {
  if (pid_ < 0 || exit_) return;
  kill();
  pollfd watched{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  (void)::poll(&watched, 1, static_cast<int>(limits::kChildReap.count()));
  if (poll_exit()) return;
  try {
    std::thread([pid = pid_] { (void)waitpid(pid, nullptr, 0); }).detach();
  } catch (const std::system_error&) {
    // Then it stays until this process ends.
  }
}

void Child::kill() {
  if (pid_ > 0 && !exit_) (void)::kill(pid_, SIGKILL);  // the pid is ours until it is reaped
}

std::optional<ExitStatus> Child::reap(int flags) {
  if (exit_) return exit_;
  int raw = 0;
  rusage usage{};
  pid_t got = 0;
  do {
    got = wait4(pid_, &raw, flags, &usage);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return std::nullopt;
  ExitStatus status;
  status.known = got > 0;
  if (status.known) {
    status.code = WIFEXITED(raw) ? WEXITSTATUS(raw) : 0;
    status.signal = WIFSIGNALED(raw) ? WTERMSIG(raw) : 0;
    // Nothing is lost where a child says this without a signal: it could have sent itself that signal, too.
    if (status.code == kExitBySignal + SIGABRT || status.code == kExitBySignal + SIGXCPU)
      status.signal = std::exchange(status.code, 0) - kExitBySignal;
    const auto ms = [](const timeval& t) { return t.tv_sec * 1000 + t.tv_usec / 1000; };
    status.cpu = std::chrono::milliseconds(ms(usage.ru_utime) + ms(usage.ru_stime));
    status.peak_resident_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  }
  if (says_.valid()) status.said = read_said(says_.get());
  says_.reset();
  exit_ = std::move(status);
  return exit_;
}

std::optional<ExitStatus> Child::poll_exit() {
  return reap(WNOHANG);
}

ExitStatus Child::wait_exit() {
  return reap(0).value_or(ExitStatus{});
}

Result<Child> spawn(const SpawnOptions& options) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return std::unexpected(system_error("making a socket pair for a child process", errno));
  }
  Fd ours(sockets[0]);
  const Fd theirs(sockets[1]);
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0)
    return std::unexpected(system_error("making a pipe for a child process", errno));
  const Fd report(pipe_ends[0]);
  Fd report_in_child(pipe_ends[1]);
  Fd says;
  Fd says_in_child;
#ifndef __SANITIZE_ADDRESS__
  if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return std::unexpected(system_error("making a pipe for a child process", errno));
  says = Fd(pipe_ends[0]);
  says_in_child = Fd(pipe_ends[1]);
#endif

  std::vector<char*> argv;
  argv.push_back(const_cast<char*>(options.executable.c_str()));
  for (const std::string& argument : options.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  const std::vector<std::string> cell = options.cell.tier == Tier::kNone ? std::vector<std::string>{} : arguments_of(options.cell);
  for (const std::string& word : cell) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const Plan plan{.executable = options.executable.c_str(),
                  .argv = argv.data(),
                  .socket = theirs.get(),
                  .says = says_in_child.get(),
                  .report = report_in_child.get(),
                  .parent = getpid(),
                  .options = &options};

  const pid_t pid = fork_child(plan);
  if (pid < 0) return std::unexpected(system_error("starting a child process", errno));
  report_in_child.reset();
  Child child(pid, Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))), std::move(ours), std::move(says));
  TRY_VOID(read_report(report.get(), options.executable));
  if (child.pidfd() < 0) return std::unexpected(system_error("watching a child process (pidfd_open)", errno));
  return child;
}

}  // namespace subako::child
