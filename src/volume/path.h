// A relative path on its way to the kernel: bounded, without NUL, and cut into the directories before the
// last name, the name itself and whether slashes follow it (spec: F2).
//
// The cut matters: the *at() calls know no RESOLVE_BENEATH, and a trailing slash makes the kernel follow the
// last link even where it was told not to. So they only ever get one name without a slash (see tree.h).
#pragma once

#include <array>
#include <climits>
#include <cstddef>
#include <cstring>
#include <expected>
#include <string_view>
#include <system_error>

namespace subako::volume {

namespace detail {

// Pieces of a path, each ended by a NUL: Size bytes on the stack, of which a copy takes what is used.
template <size_t Size>
class PathText {
 public:
  PathText() = default;
  PathText(const PathText& other) : used_(other.used_) {
    std::memcpy(bytes_.data(), other.bytes_.data(), used_);
  }
  PathText& operator=(const PathText&) = delete;

  // Where the piece begins. There must be room.
  size_t add(std::string_view piece) {
    const size_t begin = used_;
    std::memcpy(bytes_.data() + begin, piece.data(), piece.size());
    bytes_[begin + piece.size()] = '\0';
    used_ = begin + piece.size() + 1;
    return begin;
  }
  [[nodiscard]] const char* at(size_t begin) const { return bytes_.data() + begin; }

 private:
  size_t used_ = 0;
  std::array<char, Size> bytes_;
};

}  // namespace detail

// A whole path as a C string. It lives where it is made: 4 KiB of stack.
class WholePath {
 public:
  // Empty: no_such_file_or_directory. Absolute: operation_not_permitted. 4,096 bytes or more:
  // filename_too_long. With a NUL: invalid_argument.
  [[nodiscard]] static std::expected<WholePath, std::errc> from(std::string_view text);
  [[nodiscard]] const char* text() const { return text_.at(0); }

 private:
  WholePath() = default;
  detail::PathText<PATH_MAX> text_;
};

// A name that stands directly in a directory: no slash, and neither "." nor "..". The *at() calls can't lead out of
// the directory by it, as long as they don't follow a link.
[[nodiscard]] bool is_one_name(std::string_view path);

class SplitPath {
 public:
  // As WholePath::from.
  [[nodiscard]] static std::expected<SplitPath, std::errc> from(std::string_view text);

  [[nodiscard]] const char* parent() const { return text_.at(0); }  // "" where the name stands alone
  [[nodiscard]] const char* name() const { return text_.at(name_); }  // no slash; "." and ".." are possible
  [[nodiscard]] bool slash() const { return slash_; }  // written as a directory's: "a/b/"
  [[nodiscard]] bool dots() const { return dots_; }    // the name is "." or ".."

 private:
  SplitPath() = default;
  detail::PathText<PATH_MAX + 1> text_;  // the parent, the name
  size_t name_ = 0;
  bool slash_ = false;
  bool dots_ = false;
};

}  // namespace subako::volume
