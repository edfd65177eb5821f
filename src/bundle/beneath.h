// openat2(2) as this room uses it (spec: B3): the path never leaves `folder_fd` and no link in it is
// followed, whoever changes the tree meanwhile. Descriptors are close-on-exec. Not valid where it failed;
// then errno says why.
#pragma once

#include <string>

#include "base/fd.h"

namespace subako::bundle {

[[nodiscard]] Fd open_beneath(int folder_fd, const std::string& path, int flags, unsigned mode = 0);

}  // namespace subako::bundle
