// Is this a module that we can run (spec: M1-M5)? Pure: bytes in, every reason out; nothing is compiled.
#pragma once

#include <cstddef>
#include <span>

#include "abi/import.h"
#include "base/refusal.h"

namespace subako::engine {

// `offered`: the tables of host functions, each sorted by name. No refusals: it is fine to compile.
[[nodiscard]] Refusals check_module(std::span<const std::byte> wasm,
                                    std::span<const std::span<const abi::Import>> offered);

}  // namespace subako::engine
