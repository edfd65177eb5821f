// A relative path on its way to the kernel: bounded, without NUL, and cut into the directories before the
// last name, the name itself and whether slashes follow it (spec: F2).
//
// The cut matters: the *at() calls know no RESOLVE_BENEATH, and a trailing slash makes the kernel follow the
// last link even where it was told not to. So they only ever get one name without a slash (see tree.h).
#pragma once

#include <array>
#include <climits>
#include <expected>
#include <string_view>
#include <system_error>

namespace subako::volume {

// A whole path as a C string. It lives where it is made: 4 KiB of stack.
class WholePath {
 public:
  // Empty: no_such_file_or_directory. Absolute: operation_not_permitted. 4,096 bytes or more:
  // filename_too_long. With a NUL: invalid_argument.
  [[nodiscard]] static std::expected<WholePath, std::errc> from(std::string_view text);
  [[nodiscard]] const char* text() const { return text_.data(); }

 private:
  WholePath() = default;
  std::array<char, PATH_MAX> text_;
};

class SplitPath {
 public:
  // As WholePath::from.
  [[nodiscard]] static std::expected<SplitPath, std::errc> from(std::string_view text);

  [[nodiscard]] const char* parent() const { return text_.data(); }  // "" where the name stands alone
  [[nodiscard]] const char* name() const {
    return text_.data() + name_;
  }                                                    // no slash; "." and ".." are possible
  [[nodiscard]] bool slash() const { return slash_; }  // written as a directory's: "a/b/"
  [[nodiscard]] bool dots() const { return dots_; }    // the name is "." or ".."

 private:
  SplitPath() = default;
  std::array<char, PATH_MAX + 1> text_;  // the parent, a NUL, the name, a NUL
  size_t name_ = 0;
  bool slash_ = false;
  bool dots_ = false;
};

}  // namespace subako::volume
