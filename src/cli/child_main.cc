// subako-child: what core starts to work on strangers' bytes, as `subako-child worker` or `subako-child builder`, with a socket
// to core on descriptor 3 (child/spawn.h). Not for people.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "base/clock.h"
#include "builder/builder.h"
#include "child/spawn.h"
#include "volume/probe.h"
#include "worker/worker.h"

namespace {

constexpr int kCoreSocket = 3;

int usage() {
  std::fputs("subako-child is started by subako; it does nothing by itself. Try `subako --help`.\n", stderr);
  return 3;
}

int ended(const subako::Result<void>& result, const char* what) {
  if (result) return 0;
  std::fprintf(stderr, "subako-child %s: %s\n", what, result.error().message.c_str());
  return 4;
}

// A builder at its memory limit is to be told from one that crashed.
[[noreturn]] void out_of_memory() { _exit(subako::child::kExitOutOfMemory); }

int run_builder() {
  std::set_new_handler(out_of_memory);
  return ended(subako::builder::serve_one_job(subako::Fd(kCoreSocket)), "builder");
}

int run_worker() {
  // Without openat2 nothing keeps a guest's paths inside its trees (spec: F2).
  if (auto probed = subako::volume::probe_openat2(); !probed) return ended(probed, "worker");
  const subako::SystemClock clock;
  subako::worker::Worker worker(subako::Fd(kCoreSocket), clock);
  return ended(worker.serve(), "worker");
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc != 2 || fcntl(kCoreSocket, F_GETFD) < 0) return usage();
  const std::string_view what = argv[1];
  if (what == "worker") return run_worker();
  if (what == "builder") return run_builder();
  return usage();
}
