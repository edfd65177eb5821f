#include "volume/path.h"

#include <optional>

namespace subako::volume {

namespace {

std::optional<std::errc> objection(std::string_view text) {
  if (text.empty()) return std::errc::no_such_file_or_directory;
  if (text.size() >= PATH_MAX) return std::errc::filename_too_long;
  if (text.contains('\0')) return std::errc::invalid_argument;
  if (text.front() == '/') return std::errc::operation_not_permitted;
  return std::nullopt;
}

}  // namespace

bool is_one_name(std::string_view path) {
  return path != "." && path != ".." && !path.contains('/');
}

std::expected<WholePath, std::errc> WholePath::from(std::string_view text) {
  if (const auto why = objection(text)) return std::unexpected(*why);
  WholePath path;
  path.text_.add(text);
  return path;
}

std::expected<SplitPath, std::errc> SplitPath::from(std::string_view text) {
  if (const auto why = objection(text)) return std::unexpected(*why);
  SplitPath path;
  // Not npos: a path of slashes alone is absolute.
  const std::string_view bare = text.substr(0, text.find_last_not_of('/') + 1);
  const size_t before = bare.rfind('/');
  const std::string_view parent = before == std::string_view::npos ? "" : bare.substr(0, before);
  const std::string_view name = before == std::string_view::npos ? bare : bare.substr(before + 1);
  path.text_.add(parent);
  path.name_ = path.text_.add(name);
  path.slash_ = bare.size() != text.size();
  path.dots_ = !is_one_name(name);
  return path;
}

}  // namespace subako::volume
