// How much memory this process and its children can still have: of the machine, and of the control groups (v2 or v1) that it runs in.
// What the kernel gives back when asked (its page cache) counts as free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace subako {

// None where /proc can't be read. `root`: where /proc and /sys lie; empty for this machine's.
[[nodiscard]] std::optional<uint64_t> available_memory(const std::string& root = "");

// The kernel's vm.max_map_count; none where it can't be read.
[[nodiscard]] std::optional<uint64_t> memory_maps_at_most(const std::string& root = "");

}  // namespace subako
