// Another descriptor of the same open file, to be given away: a frame's are closed once it is sent.
#pragma once

#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace subako {

// Close-on-exec. `doing` begins the Error's sentence: mostly there are too many open files.
[[nodiscard]] Result<Fd> copy_of(int fd, std::string_view doing);

}  // namespace subako
