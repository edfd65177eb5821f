#include "cli/machine.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/fd.h"
#include "base/limits.h"
#include "base/machine_memory.h"
#include "base/proc_text.h"
#include "child/sandbox.h"
#include "cli/human.h"
#include "core/memory_plan.h"
#include "core/module_cache.h"
#include "core/node.h"
#include "core/scratch.h"
#include "volume/probe.h"

namespace subako::cli {

namespace {

using State = Finding::State;

// Nothing where it can't be read or isn't there.
std::string field(const std::string& text, std::string_view name) { return std::string(line_value(text, name).value_or("")); }

Finding kernel() {
  utsname name{};
  (void)uname(&name);
  return {"kernel", State::kOk, std::string(name.sysname) + " " + name.release, ""};
}

Finding openat2_call() {
  // As a worker asks at its start.
  const Result<void> probed = volume::probe_openat2();
  if (probed) return {"openat2", State::kOk, "works", ""};
  return {"openat2", State::kMissing, "doesn't work", probed.error().message};
}

Finding pidfd_call() {
  const Fd opened(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (opened.valid()) return {"pidfd_open", State::kOk, "works", ""};
  return {"pidfd_open", State::kMissing, std::strerror(errno),
          "child processes are watched with it: Linux 5.3 or newer is needed"};
}

Finding memfd_sealing() {
  const Fd file(memfd_create("subako-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.valid() &&
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    return {"memfd sealing", State::kOk, "works", ""};
  }
  return {"memfd sealing", State::kMissing, std::strerror(errno),
          "compiled modules are handed to workers in sealed memory files"};
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string out;
  for (const std::string& sentence : sentences) out += (out.empty() ? "" : "; ") + sentence;
  return out;
}

// As a command looks for it.
Finding sandbox(const SandboxOption& option) {
  const auto executable = core::find_child_executable();
  if (!executable) return {"sandbox", State::kMissing, "can't be tried", "there is no subako-child to try it with"};
  const auto found = find_sandbox(option, *executable, core::Scratch::default_parent());
  if (!found) return {"sandbox", State::kMissing, "none", found.error().message};
  const child::Cell& cell = (*found)->cell();
  std::string text(child::tier_name(cell.tier));
  if (cell.id) text += ", children are user " + std::to_string(*cell.id);
  const State state = (*found)->lacks().empty() ? State::kOk : State::kWarn;
  return {"sandbox", state, std::move(text), joined((*found)->lacks())};
}

Finding seccomp_filter() {
  uint32_t action = SECCOMP_RET_KILL_PROCESS;
  if (prctl(PR_GET_SECCOMP) >= 0 && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0) {
    return {"seccomp", State::kOk, "filters are available", ""};
  }
  return {"seccomp", State::kWarn, "no filters",
          "system calls of children can't be restricted on this kernel"};
}

Finding landlock() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version > 0) return {"Landlock", State::kOk, "version " + std::to_string(version), ""};
  return {"Landlock", State::kWarn, "not available", "only needed where namespaces are not allowed"};
}

Finding cpu() {
  const std::string info = proc_text("/proc/cpuinfo").value_or("");
  const std::string flags = " " + field(info, "flags") + " ";
  std::string model = field(info, "model name");
  if (model.empty()) model = "unknown model";
#if defined(__x86_64__)
  std::string features;
  for (const char* name : {"sse4_1", "sse4_2", "popcnt", "avx", "avx2"}) {
    if (flags.find(std::string(" ") + name + " ") != std::string::npos) features += std::string(" ") + name;
  }
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  std::string found = model + " (x86-64;" + features + ")";
  if (cache > 0) found += ", L3 cache " + human_bytes(static_cast<uint64_t>(cache));
  if (features.find("sse4_1") != std::string::npos) return {"CPU", State::kOk, std::move(found), ""};
  return {"CPU", State::kWarn, std::move(found), "128-bit SIMD of guests is slow without SSE 4.1"};
#else
  return {"CPU", State::kWarn, std::move(model), "subako is tested on x86-64"};
#endif
}

Finding cores() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return {"cores", State::kOk, std::to_string(online), ""};
}

Finding memory() {
  const std::string info = proc_text("/proc/meminfo").value_or("");
  const uint64_t total = line_number(info, "MemTotal").value_or(0) * limits::kKiB;
  const uint64_t available = line_number(info, "MemAvailable").value_or(0) * limits::kKiB;
  std::string found = human_bytes(total) + ", " + human_bytes(available) + " available";
  if (available >= limits::kBuilderMemoryBytes) return {"memory", State::kOk, std::move(found), ""};
  return {"memory", State::kWarn, std::move(found), "compiling a large module may need up to 2 GB"};
}

// As a Node divides it where nobody says more.
Finding memory_for_guests() {
  const std::optional<uint64_t> available = available_memory();
  if (!available) {
    return {"memory for guests", State::kWarn, "unknown", "/proc/meminfo can't be read: a node takes as much as one guest may have"};
  }
  const uint64_t budget = core::default_memory(*available);
  std::string found = human_bytes(budget) + ": 3/4 of what this machine, or its control group, has available";
  if (budget >= 2 * limits::kFullGuestBytes + limits::kWorkerBytes) return {"memory for guests", State::kOk, std::move(found), ""};
  return {"memory for guests", State::kWarn, std::move(found),
          "a guest may take 512 MiB: calls that need much run one after the other, and may fail for lack of memory"};
}

Finding temporary_folder() {
  const std::string path = core::Scratch::default_parent();
  struct statvfs s{};
  if (access(path.c_str(), W_OK | X_OK) != 0 || statvfs(path.c_str(), &s) != 0) {
    return {"temporary folder", State::kMissing, path + ": " + std::strerror(errno),
            "set TMPDIR to a folder that can be written to"};
  }
  const uint64_t free = static_cast<uint64_t>(s.f_bavail) * s.f_frsize;
  std::string found = path + ", " + human_bytes(free) + " free";
  if (free >= limits::kGiB) return {"temporary folder", State::kOk, std::move(found), ""};
  return {"temporary folder", State::kWarn, std::move(found),
          "a call may write up to 1 GB to a temporary Volume"};
}

Finding open_files() {
  rlimit limit{};
  (void)getrlimit(RLIMIT_NOFILE, &limit);
  std::string found = std::to_string(limit.rlim_max) + " at most";
  if (limit.rlim_max >= 4 * limits::kDescriptors) return {"open files", State::kOk, std::move(found), ""};
  return {"open files", State::kWarn, std::move(found),
          "a call may have 1,024 descriptors open: raise the hard limit (ulimit -Hn) to 65,536 or more"};
}

Finding memory_maps() {
  const uint64_t most = memory_maps_at_most().value_or(0);
  std::string found = std::to_string(most) + " a process (vm.max_map_count)";
  if (most >= 65'530) return {"memory maps", State::kOk, std::move(found), ""};
  return {"memory maps", State::kWarn, std::move(found),
          "a worker needs about six for each guest that it holds"};
}

Finding module_cache() {
  const auto place = core::ModuleCache::default_place();
  constexpr const char* kMeaning = "every call compiles its module anew; name a folder with SUBAKO_CACHE_DIR";
  if (!place) return {"module cache", State::kWarn, "off", kMeaning};
  // To look changes nothing.
  const auto opened = core::ModuleCache::open_existing(place->path);
  if (!opened) return {"module cache", State::kWarn, opened.error().message, kMeaning};
  const auto& cache = *opened;
  if (!cache) return {"module cache", State::kOk, place->path + ", not there yet", ""};
  const core::ModuleCache::Usage usage = cache->usage();
  std::string found = place->path + ", " + human_bytes(usage.bytes) + " of at most " +
                      human_bytes(limits::kCacheBytes) + " in " + std::to_string(usage.entries) +
                      (usage.entries == 1 ? " module" : " modules");
  if (usage.unfinished > 0) found += ", and " + human_bytes(usage.unfinished) + " unfinished";
  if (usage.writable) return {"module cache", State::kOk, std::move(found), ""};
  return {"module cache", State::kWarn, std::move(found) + ", can't be written to",
          "modules that aren't kept yet are compiled with every call"};
}

Finding child_executable() {
  auto path = core::find_child_executable();
  if (path) return {"subako-child", State::kOk, *std::move(path), ""};
  return {"subako-child", State::kMissing, "not found", path.error().message};
}

}  // namespace

std::vector<Finding> examine_machine(const SandboxOption& option) {
  return {kernel(),           openat2_call(), pidfd_call(), memfd_sealing(), sandbox(option),
          seccomp_filter(),   landlock(),     cpu(),        cores(),         memory(),
          memory_for_guests(), temporary_folder(), module_cache(), open_files(), memory_maps(), child_executable()};
}

}  // namespace subako::cli
