// How a node divides its memory: among workers, what their freed slots keep resident, and guests (docs/decisions/0015). Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace subako::core {

struct MemoryAsked {
  uint64_t bytes = 0;  // of the node; 0: of what is available
  std::optional<uint64_t> available;
  std::optional<uint64_t> maps;  // of a process at most
  uint32_t workers = 1;
  uint32_t guests = 1;  // slots of each
};

struct MemoryPlan {
  uint64_t guests_bytes = 0;  // of all guests that there are at once
  uint64_t kept_bytes = 0;    // of linear memory, that a freed slot may keep
  uint32_t guests = 1;        // slots of each worker: at most as many as were asked for
};

// The share of what is available that a node takes where nobody says more.
[[nodiscard]] uint64_t default_memory(uint64_t available);

// The Error: it is too little for one guest at its limit (spec: L2), and what to try.
[[nodiscard]] Result<MemoryPlan> plan_memory(const MemoryAsked& asked);

// What a slot keeps resident at most whatever its guests were, with so much of linear memory kept.
[[nodiscard]] uint64_t kept_by_slot(uint64_t kept_bytes);

}  // namespace subako::core
