// The Volumes of the sessions whose calls this worker runs: a ledger for each (spec: F5), from the first call of a session until core
// says that it isn't this worker's any more; and when core is told how full they are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/clock.h"
#include "child/messages.pb.h"
#include "volume/ledger.h"

namespace subako::worker {

class HeldVolumes {
 public:
  // The ledger of a run's Volume: a new one where its counts come along. Null where they don't, and it isn't here. Owned by this and by the runs.
  [[nodiscard]] std::shared_ptr<volume::Ledger> ledger_of(const child::Volume& volume);
  void drop(uint64_t volume) { volumes_.erase(volume); }

  // What to tell core, where it has changed since it was told; unless it must be `at_once`, not more often than every
  // limits::kVolumeTold.
  [[nodiscard]] std::optional<child::VolumeCounted> news_of(uint64_t volume, Nanoseconds now, bool at_once);
  // To be told whether it has changed or not; it may be here no longer.
  [[nodiscard]] child::VolumeCounted left(uint64_t volume, Nanoseconds now);

 private:
  struct Held {
    std::shared_ptr<volume::Ledger> ledger;
    volume::Counts told;
    Nanoseconds told_at = 0;
  };
  std::unordered_map<uint64_t, Held> volumes_;
};

}  // namespace subako::worker
