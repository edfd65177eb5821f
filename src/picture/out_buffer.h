// Where an encoder's bytes go: memory of a fixed size, so that the callbacks of C libraries have nothing to
// throw. What doesn't fit is counted, to tell of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/limits.h"

namespace subako::picture {

class OutBuffer {
 public:
  static constexpr size_t kCapacity = limits::kPictureBytes;

  OutBuffer() : bytes_(std::make_unique_for_overwrite<std::byte[]>(kCapacity)) {}

  void put(const void* bytes, size_t size) noexcept {
    if (wanted_ < kCapacity && size != 0)
      std::memcpy(&bytes_[wanted_], bytes, std::min<uint64_t>(size, kCapacity - wanted_));
    wanted_ += size;
  }
  void clear() { wanted_ = 0; }

  [[nodiscard]] uint64_t wanted() const { return wanted_; }  // bytes put, whether they fit or not
  [[nodiscard]] bool fits() const { return wanted_ <= kCapacity; }
  [[nodiscard]] std::vector<std::byte> copy() const {
    return {bytes_.get(), bytes_.get() + std::min<uint64_t>(wanted_, kCapacity)};
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  uint64_t wanted_ = 0;
};

}  // namespace subako::picture
