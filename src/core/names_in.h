// What lies in a folder; private to core.
#pragma once

#include <string>
#include <vector>

namespace subako::core {

// The names in the folder open at `folder`, in no order, without `.` and `..`. None where it can't be read.
[[nodiscard]] std::vector<std::string> names_in(int folder);

}  // namespace subako::core
