// This process's capabilities (capabilities(7)), for those who give them up. Makes only async-signal-safe calls.
#pragma once

#include <linux/capability.h>

#include <array>
#include <optional>

namespace subako::child {

using CapabilitySets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

// None, or false, with errno where the kernel refuses.
[[nodiscard]] std::optional<CapabilitySets> capabilities();
[[nodiscard]] bool set_capabilities(const CapabilitySets& sets);

}  // namespace subako::child
