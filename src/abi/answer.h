// What a host function answers (spec: F2, C12): its result, or a reason why the guest doesn't go on now.
//
// An error that the guest is told of (an errno, a negative length) is a result. A Stop is for the engine and
// the worker.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <variant>

namespace subako::abi {

// The guest broke the ABI. The message begins with the function's name: "fd_read: the pointer 0xfffffff0 and
// its 32 bytes lie outside memory".
struct Trap {
  std::string message;
};

// The guest ended itself (proc_exit).
struct Exit {
  uint32_t code = 0;
};

// The host ends the run and knows why: a violation of the protocol, a full stdout.
struct Halt {};

// There is no answer yet. The same function is called again later with the same arguments; the host object
// remembers what it must (a deadline, progress) and forgets it when the call is complete. A call that is
// dropped instead needs nothing: its host object goes with it.
struct Wait {};

using Stop = std::variant<Trap, Exit, Halt, Wait>;

template <class T>
using Answer = std::expected<T, Stop>;

[[nodiscard]] inline std::unexpected<Stop> stop(Stop why) {
  return std::unexpected(std::move(why));
}

}  // namespace subako::abi
