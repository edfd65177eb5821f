// The descriptors of the process divided among its guests (spec: F6), so that none uses up another's: 1,024 for each where
// the machine has so many, else fewer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace subako::worker {

// Of this process's limit, for each of so many guests.
[[nodiscard]] size_t descriptor_share(uint32_t guests);

// How many descriptors a guest may have open that has `share` of the kernel's: its streams take none, a preopened tree takes one
// and another when it is listed, and a task takes one.
[[nodiscard]] size_t guest_descriptors(size_t share, size_t preopens, size_t trees);

}  // namespace subako::worker
