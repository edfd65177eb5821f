// What the functions of this room return: nothing where all went well (errno 0; results went through the
// out-pointers), or a Refused: an errno for the guest, or a reason to stop it. TRY passes a Refused on, and
// turns the kernel's error of a volume::Tree and a bad pointer into one.
#pragma once

#include <cerrno>
#include <expected>
#include <system_error>
#include <utility>
#include <variant>

#include "abi/answer.h"
#include "abi/import.h"
#include "wasi/types.h"

namespace subako::wasi {

class Refused {
 public:
  Refused(Errno why) : why_(why) {}                            // NOLINT(google-explicit-constructor)
  Refused(std::errc why) : why_(errno_of(why)) {}              // NOLINT(google-explicit-constructor)
  Refused(abi::Trap why) : why_(abi::Stop(std::move(why))) {}  // NOLINT(google-explicit-constructor)
  Refused(abi::Exit why) : why_(abi::Stop(why)) {}             // NOLINT(google-explicit-constructor)
  Refused(abi::Halt why) : why_(abi::Stop(why)) {}             // NOLINT(google-explicit-constructor)
  Refused(abi::Wait why) : why_(abi::Stop(why)) {}             // NOLINT(google-explicit-constructor)

  [[nodiscard]] abi::Answer<uint32_t> answer() && {
    if (const Errno* number = std::get_if<Errno>(&why_)) return static_cast<uint32_t>(*number);
    return std::unexpected(std::get<abi::Stop>(std::move(why_)));
  }

 private:
  std::variant<Errno, abi::Stop> why_;
};

template <class T>
using Try = std::expected<T, Refused>;
using Reply = Try<void>;

// What the last call of the kernel failed with.
[[nodiscard]] inline std::errc last_error() { return static_cast<std::errc>(errno); }

[[nodiscard]] inline std::unexpected<Refused> refuse(Refused why) {
  return std::unexpected(std::move(why));
}

}  // namespace subako::wasi

template <>
struct subako::abi::Returned<subako::wasi::Reply> {
  static constexpr bool kIsI32 = true;
  static Answer<uint32_t> answer(wasi::Reply reply) {
    if (!reply) return std::move(reply).error().answer();
    return static_cast<uint32_t>(wasi::Errno::kSuccess);
  }
};
