#include "worker/held_volumes.h"

#include "base/limits.h"
#include "worker/wire.h"

namespace subako::worker {

std::shared_ptr<volume::Ledger> HeldVolumes::ledger_of(const child::Volume& volume) {
  if (volume.has_counts()) {
    const volume::Counts counts = counts_of(volume.counts());
    auto ledger = std::make_shared<volume::Ledger>(counts, counts_of(volume.most()));
    volumes_[volume.number()] = {ledger, counts};
    return ledger;
  }
  const auto held = volumes_.find(volume.number());
  return held != volumes_.end() ? held->second.ledger : nullptr;
}

std::optional<child::VolumeCounted> HeldVolumes::news_of(uint64_t volume, Nanoseconds now, bool at_once) {
  const auto found = volumes_.find(volume);
  if (found == volumes_.end()) return std::nullopt;
  Held& held = found->second;
  const volume::Counts& counts = held.ledger->counts();
  if (counts == held.told) return std::nullopt;
  if (!at_once && now - held.told_at < std::chrono::nanoseconds(limits::kVolumeTold).count()) return std::nullopt;
  held.told = counts;
  held.told_at = now;
  child::VolumeCounted message;
  message.set_volume(volume);
  *message.mutable_counts() = to_wire(counts);
  return message;
}

child::VolumeCounted HeldVolumes::left(uint64_t volume, Nanoseconds now) {
  child::VolumeCounted message;
  if (auto news = news_of(volume, now, true)) {
    message = *std::move(news);
  } else if (const auto found = volumes_.find(volume); found != volumes_.end()) {
    *message.mutable_counts() = to_wire(found->second.told);
  }
  message.set_volume(volume);
  message.set_left(true);
  return message;
}

}  // namespace subako::worker
