// Removes a folder with all that a guest may have left in it: thousands of nested folders, names of any
// bytes, folders without permissions, links (never followed). Two descriptors at a time, no recursion.
#pragma once

#include "base/result.h"

namespace subako::core {

// Empties the folder open at `folder`, but for an entry of its own called `keep` (null: nothing is kept).
[[nodiscard]] Result<void> remove_contents(int folder, const char* keep = nullptr);

// Opens the folder `name` of `parent` for reading, whatever its permissions are; links are not followed.
[[nodiscard]] Result<int> open_folder_forced(int parent, const char* name);

}  // namespace subako::core
