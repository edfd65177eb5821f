#include "child/capabilities.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace subako::child {

namespace {

__user_cap_header_struct of_this_process() { return {_LINUX_CAPABILITY_VERSION_3, 0}; }

}  // namespace

std::optional<CapabilitySets> capabilities() {
  __user_cap_header_struct header = of_this_process();
  CapabilitySets sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return std::nullopt;
  return sets;
}

bool set_capabilities(const CapabilitySets& sets) {
  __user_cap_header_struct header = of_this_process();
  return syscall(SYS_capset, &header, sets.data()) == 0;
}

}  // namespace subako::child
