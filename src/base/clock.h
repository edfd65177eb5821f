// Time as the rooms see it: an interface, so that a test can hold it still.
#pragma once

#include <cstdint>

namespace subako {

using Nanoseconds = int64_t;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Nanoseconds monotonic() const = 0;  // CLOCK_MONOTONIC
  [[nodiscard]] virtual Nanoseconds realtime() const = 0;   // since 1970, CLOCK_REALTIME
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Nanoseconds monotonic() const override;
  [[nodiscard]] Nanoseconds realtime() const override;
};

}  // namespace subako
