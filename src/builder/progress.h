// How far a job is, and how long its parts took.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "base/result.h"
#include "child/messages.pb.h"

namespace subako::builder {

// Sends a message to core before the last one.
using Report = std::function<Result<void>(const child::FromBuilder&)>;

[[nodiscard]] inline Result<void> report_phase(const Report& report, child::Progress::Phase phase) {
  child::FromBuilder message;
  message.mutable_progress()->set_phase(phase);
  return report(message);
}

class Stopwatch {
 public:
  // Milliseconds since it was made or last asked.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace subako::builder
