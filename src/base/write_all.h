// Writing all of something to a descriptor that blocks.
#pragma once

#include <string_view>

#include "base/result.h"

namespace subako {

// However often the kernel takes less, or a signal comes in between. The Error begins with `what`; some of it may be
// written by then.
[[nodiscard]] Result<void> write_all(int fd, std::string_view bytes, std::string_view what);

}  // namespace subako
