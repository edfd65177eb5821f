// `subako_http` as a table of imports (spec: M3, H1). The host object of each is a guest_http::Host. Its pointers are no WASI
// pointers: one outside memory is a number to answer, not a trap.
#pragma once

#include <span>
#include <string_view>

#include "abi/import.h"

namespace subako::guest_http {

inline constexpr std::string_view kModule = "subako_http";

[[nodiscard]] std::span<const abi::Import> imports();

}  // namespace subako::guest_http
