#include "worker/stderr_log.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace subako::worker {

void StderrLog::write(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  written_ += text.size();
  keep(text);
  if (!live_) return;
  // After a gap the reader gets some way ahead first: many small gaps would be unreadable.
  if (dropped_ > 0 && waiting_.text.empty() && under_way_ <= limits::kStderrInFlightBytes / 2) {
    waiting_.left_out = std::exchange(dropped_, 0);
  }
  const uint64_t used = under_way_ + waiting_.text.size();
  const uint64_t room = dropped_ > 0 || used >= limits::kStderrInFlightBytes ? 0 : limits::kStderrInFlightBytes - used;
  const auto fits = static_cast<size_t>(std::min<uint64_t>(room, text.size()));
  waiting_.text.append(text.substr(0, fits));
  dropped_ += text.size() - fits;
}

std::optional<StderrLog::Piece> StderrLog::take_live() {
  if (waiting_.text.empty()) return std::nullopt;
  under_way_ += waiting_.text.size();
  return std::exchange(waiting_, {});
}

void StderrLog::taken(uint64_t bytes) { under_way_ -= std::min(bytes, under_way_); }

std::string StderrLog::kept() const {
  return ring_.substr(start_) + ring_.substr(0, start_);
}

void StderrLog::keep(std::string_view bytes) {
  constexpr size_t kCapacity = limits::kStderrKeptBytes;
  if (bytes.size() > kCapacity) bytes.remove_prefix(bytes.size() - kCapacity);
  const size_t grows = std::min(kCapacity - ring_.size(), bytes.size());
  ring_.append(bytes.substr(0, grows));
  bytes.remove_prefix(grows);
  while (!bytes.empty()) {
    const size_t run = std::min(kCapacity - start_, bytes.size());
    ring_.replace(start_, run, bytes.substr(0, run));
    start_ = (start_ + run) % kCapacity;
    bytes.remove_prefix(run);
  }
}

}  // namespace subako::worker
