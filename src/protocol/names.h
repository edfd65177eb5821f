// The names of packages and tools (spec: B2, U3): 1 to 64 of a-z, 0-9, - and _.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace subako::protocol {

// What is wrong with `name`, to complete "the name ... "; none where it is fine.
[[nodiscard]] std::optional<std::string> name_fault(std::string_view name);

}  // namespace subako::protocol
