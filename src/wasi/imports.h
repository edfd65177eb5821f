// WASI preview 1 as a table of imports, sorted by name (spec: M3, F2): what links a guest and what an
// upload's imports are checked against. The host object of each is a wasi::Host.
#pragma once

#include <span>
#include <string_view>

#include "abi/import.h"

namespace subako::wasi {

inline constexpr std::string_view kModule = "wasi_snapshot_preview1";

[[nodiscard]] std::span<const abi::Import> imports();

}  // namespace subako::wasi
