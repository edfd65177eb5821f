// The lines that a guest reads (spec: C3, C4, C10, U2). Each ends with its one newline. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace subako::protocol {

// The one revision of the protocol that is spoken (C4) and that a package must support (U2).
inline constexpr std::string_view kRevision = "2026-07-28";

// The `arguments` of a call as they go to the guest: compact, every token as spelt. Refused (kInvalid, kTooLarge) with
// one sentence: no object, over 1 MiB, over 120 levels, a number outside double range, a lone surrogate. Empty text is `{}`.
[[nodiscard]] Result<std::string> check_arguments(std::string_view text);

[[nodiscard]] std::string discover_request(std::string_view id);
// The first page has no `cursor` member; an empty string is a cursor like any other.
[[nodiscard]] std::string list_request(std::string_view id, const std::optional<std::string>& cursor);
[[nodiscard]] std::string call_request(std::string_view id, std::string_view tool, std::string_view checked_arguments);

}  // namespace subako::protocol
