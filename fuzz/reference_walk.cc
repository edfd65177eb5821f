#include "reference_walk.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>

#include "base/fd.h"

namespace subako::fuzz {

namespace {

constexpr int kMostLinks = 40;

struct Name {
  std::string text;
  bool last = false;
  bool slash = false;  // after it
};

Name first_of(std::string_view rest) {
  const std::string_view name = rest.substr(0, rest.find('/'));
  const std::string_view after = rest.substr(name.size());
  return {std::string(name), after.find_first_not_of('/') == std::string_view::npos, !after.empty()};
}

std::string_view after_slashes(std::string_view text) {
  const size_t begin = text.find_first_not_of('/');
  return begin == std::string_view::npos ? "" : text.substr(begin);
}

struct stat stat_of(int fd) {
  struct stat found{};
  (void)::fstat(fd, &found);
  return found;
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

std::unexpected<std::errc> no(std::errc why) {
  return std::unexpected(why);
}

}  // namespace

std::expected<struct stat, std::errc> walk(int tree, std::string_view path, Links links) {
  if (path.empty()) return no(std::errc::no_such_file_or_directory);
  if (path.size() >= PATH_MAX) return no(std::errc::filename_too_long);
  if (path.contains('\0')) return no(std::errc::invalid_argument);
  if (path.front() == '/') return no(std::errc::operation_not_permitted);
  const struct stat root = stat_of(tree);
  Fd here(::openat(tree, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::string rest(path);
  bool follows_last = links == Links::kFollowAll;
  bool must_be_directory = false;
  for (int followed = 0;;) {
    const Name name = first_of(rest);
    // A slash after the last name means the directory that stands there, behind a link too.
    if (name.last && name.slash) follows_last = must_be_directory = true;
    if (name.text == ".." && is_same(stat_of(here.get()), root))
      return no(std::errc::operation_not_permitted);
    Fd next(::openat(here.get(), name.text.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) return no(static_cast<std::errc>(errno));
    const struct stat found = stat_of(next.get());
    const std::string after(after_slashes(std::string_view(rest).substr(name.text.size())));
    if (S_ISLNK(found.st_mode) && (!name.last || follows_last)) {
      if (++followed > kMostLinks) return no(std::errc::too_many_symbolic_link_levels);
      std::array<char, PATH_MAX> target{};
      const ssize_t length = ::readlinkat(next.get(), "", target.data(), target.size());
      if (length <= 0 || target[0] == '/') return no(std::errc::operation_not_permitted);
      rest = std::string(target.data(), static_cast<size_t>(length)) + (name.last ? "" : "/" + after);
      continue;
    }
    if (name.last) {
      if (must_be_directory && !S_ISDIR(found.st_mode)) return no(std::errc::not_a_directory);
      return found;
    }
    if (!S_ISDIR(found.st_mode)) return no(std::errc::not_a_directory);
    here = std::move(next);
    rest = after;
  }
}

}  // namespace subako::fuzz
