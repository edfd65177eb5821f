#include "protocol/sixel.h"

#include <algorithm>

namespace subako::protocol {

bool is_sixel(std::string_view bytes) {
  constexpr std::string_view kBegin = "\x1bP";
  constexpr std::string_view kEnd = "\x1b\\";
  if (bytes.size() < kBegin.size() + kEnd.size() || !bytes.starts_with(kBegin) || !bytes.ends_with(kEnd))
    return false;
  bytes = bytes.substr(kBegin.size(), bytes.size() - kBegin.size() - kEnd.size());
  const size_t parameters = std::min(bytes.find_first_not_of("0123456789;"), bytes.size());
  bytes.remove_prefix(parameters);
  if (!bytes.starts_with('q')) return false;
  return std::ranges::all_of(bytes, [](char c) { return (c > ' ' && c <= '~') || c == '\n' || c == '\r'; });
}

}  // namespace subako::protocol
