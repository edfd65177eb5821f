#include "base/machine_memory.h"

#include <algorithm>
#include <string_view>

#include "base/limits.h"
#include "base/proc_text.h"

namespace subako {

namespace {

std::optional<uint64_t> number_in(const std::string& path) {
  const auto text = proc_text(path);
  return text ? leading_number(*text) : std::nullopt;
}

struct Names {
  const char* most;
  const char* used;
  const char* cache;  // in memory.stat: what was not used lately
};
constexpr Names kVersion2{"/memory.max", "/memory.current", "inactive_file"};
constexpr Names kVersion1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};

// What a group and those above it leave. A container may show its own group as the root of all, under a path that isn't there.
std::optional<uint64_t> left_in(const std::string& mount, std::string group, const Names& names) {
  std::optional<uint64_t> least;
  for (;;) {
    const std::string folder = mount + (group == "/" ? "" : group);
    const auto most = number_in(folder + names.most);
    const auto used = number_in(folder + names.used);
    if (most && used) {
      const auto stat = proc_text(folder + "/memory.stat");
      const uint64_t cache = stat ? line_number(*stat, names.cache).value_or(0) : 0;
      const uint64_t taken = *used - std::min(*used, cache);
      const uint64_t left = *most - std::min(*most, taken);
      least = std::min(least.value_or(left), left);
    }
    if (group.empty() || group == "/") return least;
    group.erase(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

bool names_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    const size_t end = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, end) == "memory") return true;
    controllers.remove_prefix(std::min(end + 1, controllers.size()));
  }
  return false;
}

}  // namespace

std::optional<uint64_t> available_memory(const std::string& root) {
  const auto info = proc_text(root + "/proc/meminfo");
  const auto available = info ? line_number(*info, "MemAvailable") : std::nullopt;
  if (!available) return std::nullopt;
  uint64_t least = *available * limits::kKiB;
  // Lines "number:controllers:path"; version 2's has no controllers.
  const std::string groups = proc_text(root + "/proc/self/cgroup").value_or("");
  for (std::string_view rest = groups; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    std::optional<uint64_t> left;
    if (controllers.empty()) left = left_in(root + "/sys/fs/cgroup", path, kVersion2);
    if (names_memory(controllers)) left = left_in(root + "/sys/fs/cgroup/memory", path, kVersion1);
    least = std::min(least, left.value_or(least));
  }
  return least;
}

std::optional<uint64_t> memory_maps_at_most(const std::string& root) {
  return number_in(root + "/proc/sys/vm/max_map_count");
}

}  // namespace subako
