// The descriptors of the process divided among its guests (spec: F6), so that none uses up another's: 1,024 for each where
// the machine has so many, else fewer; and fewer guests where there wouldn't be enough for each to be of use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace subako::worker {

struct Division {
  uint32_t guests = 0;  // at once: at least one, at most as many as were asked for
  size_t share = 0;     // of this process's limit, for each
};
[[nodiscard]] Division divide_descriptors(uint32_t guests);

// How many descriptors a guest may have open that has `share` of the kernel's: its streams take none, a preopened tree takes one
// and another when it is listed, and a task takes one.
[[nodiscard]] size_t guest_descriptors(size_t share, size_t preopens, size_t trees);

}  // namespace subako::worker
