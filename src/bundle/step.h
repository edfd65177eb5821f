// How a step of reading a bundle can end early: we failed (an Error: a full disk), or what was read is
// refused (spec: B).
#pragma once

#include <expected>
#include <variant>

#include "base/refusal.h"
#include "base/result.h"

namespace subako::bundle {

using Stop = std::variant<Error, Refusal>;

template <class T>
using Step = std::expected<T, Stop>;

[[nodiscard]] inline std::unexpected<Stop> stop(Refusal refusal) {
  return std::unexpected<Stop>(std::move(refusal));
}
[[nodiscard]] inline std::unexpected<Stop> stop(Error error) {
  return std::unexpected<Stop>(std::move(error));
}

}  // namespace subako::bundle
