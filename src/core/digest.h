// What names a compiled module (sha256) and what tells that its bytes are whole (XXH3); private to core, pure
// but for reading.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace subako::core {

using Sha256 = std::array<unsigned char, 32>;

[[nodiscard]] std::string hex_of(std::span<const unsigned char> bytes);
[[nodiscard]] Sha256 sha256_of(std::string_view bytes);

// Whoever reads or writes much looks at it between two pieces: true means give up (kCancelled).
using GiveUp = std::atomic<bool>;

// All of a file, from its beginning to its end, in pieces. An Error of `take` ends it. Read, not mapped: a
// page of a mapping that a disk can't give would be a signal, not an error.
[[nodiscard]] Result<void> read_in_pieces(int file, const GiveUp& give_up,
                                          const std::function<Result<void>(std::string_view)>& take);
// Of a memfd that is sealed against shrinking: mapped, as reading what another process has just written costs
// more than the hashing (12 ms and 8 ms for 11.5 MB on a busy machine).
[[nodiscard]] Result<Sha256> sha256_of_sealed(int memfd, const GiveUp& give_up);

// Finds damage, not malice.
class Checksum {
 public:
  Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;
  ~Checksum();
  void add(std::string_view bytes);
  [[nodiscard]] uint64_t value() const;

 private:
  void* state_;  // XXH3_state_t
};

}  // namespace subako::core
