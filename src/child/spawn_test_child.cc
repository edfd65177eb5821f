// Started by spawn_test: it does as its first argument says.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

extern char** environ;

namespace {

std::string describe() {
  std::string out;
  DIR* dir = opendir("/proc/self/fd");
  while (const dirent* entry = dir != nullptr ? readdir(dir) : nullptr) {
    const int fd = atoi(entry->d_name);
    if (entry->d_name[0] != '.' && fd != dirfd(dir)) out += "fd" + std::to_string(fd) + " ";
  }
  if (dir != nullptr) closedir(dir);
  char link[PATH_MAX] = {};
  (void)!readlink("/proc/self/fd/0", link, sizeof link - 1);
  out += std::string("in=") + link;
  char where[PATH_MAX] = {};
  out += std::string(" cwd=") + getcwd(where, sizeof where);
  out += std::string(" environment=") + (environ[0] == nullptr ? "none" : "some");
  out += std::string(" leader=") + (getsid(0) == getpid() ? "yes" : "no");
  out += " no_new_privs=" + std::to_string(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  int death = 0;
  prctl(PR_GET_PDEATHSIG, &death);
  out += " death=" + std::to_string(death);
  rlimit core{};
  getrlimit(RLIMIT_CORE, &core);
  out += " core=" + std::to_string(core.rlim_max);
  struct sigaction pipe_action{};
  sigaction(SIGPIPE, nullptr, &pipe_action);
  out += std::string(" sigpipe=") + (pipe_action.sa_handler == SIG_DFL ? "default" : "ignored");
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "describe") {
    const std::string text = describe();
    return send(3, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) ? 0 : 1;
  }
  if (what == "say") {  // more than the pipe holds, then what could be done to a log or a terminal
    const std::string text(1000, 'x');
    (void)!write(2, "first\n\x1b[2J", 10);
    for (int n = 0; n < 200; ++n) (void)!write(2, text.data(), text.size());
    char byte = 0;
    const bool reads = read(2, &byte, 1) >= 0;
    const bool cuts = ftruncate(2, 0) == 0;
    (void)fcntl(2, F_SETFL, O_APPEND);
    return reads || cuts ? 1 : 5;
  }
  if (what == "exit") return atoi(argv[2]);
  if (what == "signal") raise(atoi(argv[2]));
  if (what == "spin") {
    for (;;) asm volatile("");
  }
  if (what == "allocate") return malloc(1UL << 31U) == nullptr ? 77 : 0;
  if (what == "write") {
    (void)signal(SIGXFSZ, SIG_IGN);
    const int file = memfd_create("file", 0);
    const std::string text(8192, 'x');
    const bool cut =
        write(file, text.data(), text.size()) == 4096 && write(file, "x", 1) == -1 && errno == EFBIG;
    return cut ? 9 : 0;
  }
  if (what == "sleep") pause();
  return 0;
}
