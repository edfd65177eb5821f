#include "base/proc_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/fd.h"
#include "base/limits.h"

namespace subako {

namespace {

void drop_blanks(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size())); }

}  // namespace

std::optional<std::string> proc_text(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(64 * limits::kKiB, '\0');
  size_t had = 0;
  while (file.valid() && had < text.size()) {
    const ssize_t n = read(file.get(), text.data() + had, text.size() - had);
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    had += static_cast<size_t>(n);
  }
  if (!file.valid()) return std::nullopt;
  text.resize(had);
  return text;
}

std::optional<std::string_view> line_value(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    std::string_view rest = text.substr(at + name.size());
    rest = rest.substr(0, rest.find('\n'));
    const size_t whole = rest.size();
    drop_blanks(rest);
    const bool colon = rest.starts_with(':');
    if (!colon && rest.size() == whole) continue;  // another name, which begins so
    if (colon) rest.remove_prefix(1);
    drop_blanks(rest);
    return rest;
  }
  return std::nullopt;
}

std::optional<uint64_t> leading_number(std::string_view text) {
  uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<uint64_t> line_number(std::string_view text, std::string_view name) {
  const auto value = line_value(text, name);
  return value ? leading_number(*value) : std::nullopt;
}

}  // namespace subako
