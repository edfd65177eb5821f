#include "core/memory_plan.h"

#include <algorithm>
#include <string>

#include "base/limits.h"

namespace subako::core {

namespace {

constexpr uint64_t kPage = 64 * limits::kKiB;
constexpr uint64_t kBesideMemories = limits::kTables * limits::kKeptTableBytes + limits::kKeptStackBytes;

uint64_t kept_for(uint64_t slot_bytes) {
  if (slot_bytes < kBesideMemories + 2 * kPage) return 0;
  const uint64_t each = (slot_bytes - kBesideMemories) / 2;
  return std::min(each / kPage * kPage, limits::kKeptMemoryBytes);
}

uint32_t slots(const MemoryAsked& asked) {
  const uint64_t maps =
      asked.maps.value_or(uint64_t{limits::kGuestsPerWorker} * limits::kMapsPerGuest + limits::kMapsOfWorker);
  const uint64_t able = (maps - std::min<uint64_t>(maps, limits::kMapsOfWorker)) / limits::kMapsPerGuest;
  const uint64_t most = std::min<uint64_t>(able, limits::kGuestsPerWorker);
  return static_cast<uint32_t>(std::clamp<uint64_t>(asked.guests, 1, std::max<uint64_t>(most, 1)));
}

}  // namespace

uint64_t default_memory(uint64_t available) {
  return available / 4 * 3;
}

uint64_t kept_by_slot(uint64_t kept_bytes) {
  return kept_bytes == 0 ? 0 : 2 * kept_bytes + kBesideMemories;
}

Result<MemoryPlan> plan_memory(const MemoryAsked& asked) {
  const uint64_t workers_bytes = asked.workers * limits::kWorkerBytes;
  const uint64_t least = workers_bytes + limits::kFullGuestBytes;
  // A machine with little memory may be used all the same: few guests ever are at their limit.
  const uint64_t bytes =
      asked.bytes != 0 ? asked.bytes : std::max(least, default_memory(asked.available.value_or(0)));
  if (bytes < least) {
    return fail(Code::kInvalid,
                "a memory budget of " + std::to_string(bytes / limits::kMiB) + " MiB is too little for " +
                    std::to_string(asked.workers) + (asked.workers == 1 ? " worker" : " workers") +
                    " and one guest at its limit: give the node at least " +
                    std::to_string((least + limits::kMiB - 1) / limits::kMiB) + " MiB, or fewer workers");
  }
  MemoryPlan plan;
  plan.guests = slots(asked);
  const uint64_t share = std::min(bytes / 4, bytes - least);
  const uint64_t all_slots = uint64_t{asked.workers} * plan.guests;
  plan.kept_bytes = kept_for(share / all_slots);
  plan.guests_bytes = bytes - workers_bytes - all_slots * kept_by_slot(plan.kept_bytes);
  return plan;
}

}  // namespace subako::core
