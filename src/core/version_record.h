// What a node has learnt of a package version by running it: how much memory it takes, and whether workers die of it. Pure; private to
// core.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/limits.h"

namespace subako::core {

class VersionRecord {
 public:
  explicit VersionRecord(uint64_t number) : number_(number) {}
  [[nodiscard]] uint64_t number() const { return number_; }

  // Bytes that its next call will take: the highest of the recent ones.
  [[nodiscard]] uint64_t expected_memory() const { return expected_; }
  void took(uint64_t peak) {
    const uint64_t sane = std::clamp(peak, limits::kGuestHostBytes, limits::kFullGuestBytes);
    if (!known_ || sane >= expected_) {
      expected_ = sane;
    } else {
      expected_ -= (expected_ - sane) / 8;
    }
    known_ = true;
  }

  // A worker died while a run of it was under way. One death may be another's doing, two hardly are. It may run
  // with others again once it has ended often enough without one.
  void died() {
    clean_ = 0;
    ++deaths_;
  }
  void ended() {
    if (deaths_ > 0 && ++clean_ >= limits::kCleanRunsToForgive) deaths_ = 0;
  }
  [[nodiscard]] bool apart() const { return deaths_ >= limits::kDeathsToSetApart; }

 private:
  uint64_t number_;
  uint64_t expected_ = limits::kUnknownGuestBytes;
  bool known_ = false;
  uint32_t deaths_ = 0;
  uint32_t clean_ = 0;
};

}  // namespace subako::core
