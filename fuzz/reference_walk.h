// Where a path leads within a tree, found the slow way: one name at a time, links read and followed by hand
// (spec: F2). What volume::Tree must agree with.
#pragma once

#include <sys/stat.h>

#include <expected>
#include <string_view>
#include <system_error>

namespace subako::fuzz {

enum class Links : bool { kStayAtLast, kFollowAll };

// What stands at the end of the path, or what a guest is told: operation_not_permitted where the way leaves
// the tree, the kernel's own error where there is no way.
[[nodiscard]] std::expected<struct stat, std::errc> walk(int tree, std::string_view path, Links links);

}  // namespace subako::fuzz
