#include "volume/write_budget.h"

#include <algorithm>

namespace subako::volume {

namespace {

// Bytes between the end of the file and where the write begins.
uint64_t hole(uint64_t offset, uint64_t size) {
  return offset > size ? offset - size : 0;
}

}  // namespace

uint64_t WriteBudget::allowed(uint64_t offset, uint64_t size, uint64_t wanted) const {
  const uint64_t before = hole(offset, size);
  return before >= left() ? 0 : std::min(wanted, left() - before);
}

void WriteBudget::charge_write(uint64_t offset, uint64_t size, uint64_t written) {
  if (written > 0) charge(hole(offset, size) + written);
}

bool WriteBudget::allows_size(uint64_t size, uint64_t new_size) const {
  return new_size <= size || new_size - size <= left();
}

void WriteBudget::charge_size(uint64_t size, uint64_t new_size) {
  if (new_size > size) charge(new_size - size);
}

void WriteBudget::charge(uint64_t bytes) {
  written_ += std::min(bytes, left());
}

}  // namespace subako::volume
