#include "bundle/findings.h"

#include <string>
#include <utility>

#include "base/limits.h"

namespace subako::bundle {

void Findings::refuse(Refusal refusal) {
  if (refusals_.size() < limits::kRefusals) {
    refusals_.push_back(std::move(refusal));
  } else {
    ++refusals_left_out_;
  }
}

void Findings::refuse(Refusals refusals) {
  for (Refusal& refusal : refusals) refuse(std::move(refusal));
}

void Findings::warn(Warning warning) {
  if (warnings_.size() < limits::kRefusals) {
    warnings_.push_back(std::move(warning));
  } else {
    ++warnings_left_out_;
  }
}

void Findings::warn(Warnings warnings) {
  for (Warning& warning : warnings) warn(std::move(warning));
}

Refusals Findings::take_refusals() {
  if (const uint64_t n = std::exchange(refusals_left_out_, 0); n > 0) {
    refusals_.push_back({"B3", "", "there are " + std::to_string(n) + " more refusals",
                         "mend the ones above first, then check again"});
  }
  return std::exchange(refusals_, {});
}

Warnings Findings::take_warnings() {
  if (const uint64_t n = std::exchange(warnings_left_out_, 0); n > 0) {
    warnings_.push_back({"B3", "", "there are " + std::to_string(n) + " more warnings"});
  }
  return std::exchange(warnings_, {});
}

}  // namespace subako::bundle
