// How much one call may still write (spec: F4, L3). Each operation counts the larger of the bytes it writes
// and the growth of the file: a write far past the end counts its hole too, and the same MiB written twice is
// two.
//
// Ask before, charge after: `allowed` is how much of a write fits, and zero for a write that wants more means
// EDQUOT.
#pragma once

#include <cstdint>

#include "base/limits.h"

namespace subako::volume {

class WriteBudget {
 public:
  explicit WriteBudget(uint64_t bytes = limits::kWrittenBytes) : limit_(bytes) {}

  // How many of `wanted` bytes may be written at `offset` of a file that is `size` bytes long.
  [[nodiscard]] uint64_t allowed(uint64_t offset, uint64_t size, uint64_t wanted) const;
  void charge_write(uint64_t offset, uint64_t size, uint64_t written);

  // May a file of `size` bytes become `new_size`? Shrinking costs nothing.
  [[nodiscard]] bool allows_size(uint64_t size, uint64_t new_size) const;
  void charge_size(uint64_t size, uint64_t new_size);

  [[nodiscard]] uint64_t left() const { return limit_ - written_; }
  [[nodiscard]] uint64_t written() const { return written_; }  // for the record: never over the limit

 private:
  void charge(uint64_t bytes);
  uint64_t limit_;
  uint64_t written_ = 0;
};

}  // namespace subako::volume
