// Stands where subako-child does: shuts itself in by the same call, takes one frame as that does, and then does as a stranger would who
// has taken it over. Of each probe it says a line: "+" where it worked, "-" and the errno where it didn't, and the name.
//
// `escape_child worker|builder|with-data TIER [ID]` (with-data: a worker whose Volume has data/), or `abort`, `fault`, `spin`, which end so once they are shut in. Without a tier nothing keeps it in, and each probe runs in a process of its own, in mounts
// of its own, as some would end it.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "child/confine.h"
#include "child/enter_sandbox.h"
#include "child/frames.h"
#include "escape/probes.h"

namespace {

using namespace subako;

constexpr int kSocket = 3;

int end(const char* where, const Error& error) {
  std::fprintf(stderr, "escape_child: %s: %s\n", where, error.message.c_str());
  return 4;
}

// 0: it works; else the errno.
int try_here(const escape::Probe& probe, const escape::Target& target) {
  errno = 0;
  if (probe.works(target)) return 0;
  return errno != 0 ? errno : EXDEV;  // it went well and led nowhere
}

int try_apart(const escape::Probe& probe, const escape::Target& target) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (unshare(CLONE_NEWNS) == 0) (void)mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    _exit(try_here(probe, target));
  }
  int status = 0;
  (void)waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

escape::Target target_of(const child::Frame& frame) {
  escape::Target target;
  std::istringstream in(frame.body);
  in >> target.core >> target.tcp_port >> target.secret >> target.unix_path >> target.abstract_name;
  target.volume = frame.descriptors.at(0).get();
  target.package = frame.descriptors.at(1).get();
  target.module = frame.descriptors.at(2).get();
  return target;
}

}  // namespace

int main(int argc, char** argv) {
  const auto cell = child::cell_of(argv + 2, argc - 2);
  const auto role = std::string_view(argv[1]) == "builder" ? child::Role::kBuilder : child::Role::kWorker;
  if (!cell) return 3;
  if (auto entered = child::enter_sandbox(role, *cell, kSocket); !entered)
    return end("entering", entered.error());
  if (std::string_view(argv[1]) == "abort") abort();
  if (std::string_view(argv[1]) == "fault") *static_cast<volatile int*>(nullptr) = 1;
  while (std::string_view(argv[1]) == "spin") asm volatile("");
  auto frame = child::receive_frame(kSocket);
  if (!frame || !*frame || (*frame)->descriptors.size() != 3) return 5;
  const escape::Target target = target_of(**frame);
  if (cell->tier == child::Tier::kLandlock) {
    const child::ConfinedTree trees[] = {{target.volume, child::Access::kWrite},
                                         {target.package, child::Access::kRead}};
    if (auto confined = child::confine_to(trees); !confined) return end("confining", confined.error());
  }
  const bool apart = cell->tier == child::Tier::kNone;
  std::string said;
  const auto escapes = std::string_view(argv[1]) == "with-data" ? escape::escapes_with_data() : escape::escapes();
  for (const auto& probes : {escape::necessities(), escapes}) {
    for (const escape::Probe& probe : probes) {
      const int error = apart ? try_apart(probe, target) : try_here(probe, target);
      said += (error == 0 ? std::string("+") : "-" + std::to_string(error)) + " " + probe.name + "\n";
    }
  }
  const bool sent = child::send_frame(kSocket, {std::move(said), {}}).has_value();
  _exit(sent ? 0 : 6);  // a sanitizer's look for leaks at the end takes ptrace
}
