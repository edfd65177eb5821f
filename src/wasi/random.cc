#include "base/random.h"

#include <algorithm>

#include "base/limits.h"
#include "wasi/functions.h"

namespace subako::wasi {

// Any length (spec: F8), a piece at a turn.
Reply random_get(Host& host, GuestBuffer to) {
  Progress progress = host.take_progress();
  const auto rest = to.bytes.subspan(progress.done);
  const auto piece = rest.first(std::min<size_t>(rest.size(), limits::kHostCallBytes));
  fill_random(piece);
  if (piece.size() == rest.size()) return {};
  progress.done += piece.size();
  return refuse(host.wait({.at = std::nullopt, .stdin = false, .now = true}, progress));
}

}  // namespace subako::wasi
