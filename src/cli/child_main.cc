// subako-child: what core starts to work on strangers' bytes, as `subako-child worker` or `subako-child builder`, with a socket
// to core on descriptor 3 (child/spawn.h) and what it is to shut itself into (child/enter_sandbox.h) after that word; `subako-child
// probe` only tries that. Not for people.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "builder/builder.h"
#include "child/confine.h"
#include "child/enter_sandbox.h"
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

// Threads and their heaps take address space, which a builder has little of: on a machine of many cores the compiler takes
// a few. Read by the compiler's thread pool when it first starts.
void take_few_threads() {
  constexpr unsigned kThreads = 4;
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1U, kThreads);
  setenv("RAYON_NUM_THREADS", std::to_string(threads).c_str(), 1);
  mallopt(M_ARENA_MAX, 2);
}

subako::Result<void> shut_in(subako::child::Role role, const subako::child::Cell& cell) {
  return subako::child::enter_sandbox(role, cell, kCoreSocket);
}

int run_builder(const subako::child::Cell& cell) {
  take_few_threads();
  std::set_new_handler(out_of_memory);
  if (!shut_in(subako::child::Role::kBuilder, cell)) return subako::child::kExitNotShutIn;
  return ended(subako::builder::serve_one_job(subako::Fd(kCoreSocket), cell.tier), "builder");
}

int run_worker(const subako::child::Cell& cell) {
  if (!shut_in(subako::child::Role::kWorker, cell)) return subako::child::kExitNotShutIn;
  // Without openat2 nothing keeps a guest's paths inside its trees (spec: F2).
  if (auto probed = subako::volume::probe_openat2(); !probed) return ended(probed, "worker");
  const subako::SystemClock clock;
  subako::worker::Worker worker(subako::Fd(kCoreSocket), clock, cell.tier);
  return ended(worker.serve(), "worker");
}

// What is in the way goes to core as it is, not in a frame.
int run_probe(const subako::child::Cell& cell) {
  auto shut = shut_in(subako::child::Role::kWorker, cell);
  if (shut && cell.tier == subako::child::Tier::kLandlock) shut = subako::child::confine_to({});
  if (shut) return 0;
  const std::string& message = shut.error().message;
  (void)!write(kCoreSocket, message.data(), message.size());
  return 4;
}

#ifdef __SANITIZE_ADDRESS__
bool shut = false;  // asked at the end of main
#endif

}  // namespace

#ifdef __SANITIZE_ADDRESS__
// Looking for leaks takes ptrace, which a child that is shut in hasn't got.
extern "C" int __lsan_is_turned_off();
int __lsan_is_turned_off() { return shut ? 1 : 0; }
#endif

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a guest that meets the limit of file sizes hears EFBIG
  if (argc < 2 || fcntl(kCoreSocket, F_GETFD) < 0) return usage();
  const auto cell = subako::child::cell_of(argv + 2, argc - 2);
  if (!cell) return usage();
#ifdef __SANITIZE_ADDRESS__
  shut = cell->tier != subako::child::Tier::kNone;
#endif
  const std::string_view what = argv[1];
  if (what == "worker") return run_worker(*cell);
  if (what == "builder") return run_builder(*cell);
  if (what == "probe") return run_probe(*cell);
  return usage();
}
