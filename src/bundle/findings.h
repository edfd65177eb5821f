// The refusals and warnings of one bundle (spec: B3): all that can be found, but never more than
// limits::kRefusals of them, so that a hostile bundle can't make a report without end. What is left out is
// counted.
#pragma once

#include <cstdint>

#include "base/refusal.h"

namespace subako::bundle {

class Findings {
 public:
  void refuse(Refusal refusal);
  void refuse(Refusals refusals);
  void warn(Warning warning);
  void warn(Warnings warnings);
  [[nodiscard]] bool refused() const { return !refusals_.empty(); }

  // Both leave this empty.
  [[nodiscard]] Refusals take_refusals();
  [[nodiscard]] Warnings take_warnings();

 private:
  Refusals refusals_;
  Warnings warnings_;
  uint64_t refusals_left_out_ = 0;
  uint64_t warnings_left_out_ = 0;
};

}  // namespace subako::bundle
