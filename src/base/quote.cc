#include "base/quote.h"

#include <cstdint>

#include "base/utf8.h"

namespace subako {

std::string_view head(std::string_view bytes, size_t max_bytes) {
  if (bytes.size() <= max_bytes) return bytes;
  size_t end = max_bytes;
  // At most three bytes back: longer runs of continuation bytes are no characters.
  for (size_t back = 0; back < 3 && end > 0 && (static_cast<uint8_t>(bytes[end]) & 0xc0U) == 0x80U; ++back)
    --end;
  return bytes.substr(0, end);
}

std::string one_line(std::string_view bytes) {
  const std::string safe = utf8::escape_for_people(bytes);
  std::string out;
  out.reserve(safe.size());
  for (const char c : safe) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out;
}

std::string shortened(std::string_view bytes, size_t max_bytes) {
  const std::string_view begin = head(bytes, max_bytes);
  std::string out = one_line(begin);
  if (begin.size() < bytes.size()) out += "…";
  return out;
}

std::string in_quotes(std::string_view bytes, size_t max_bytes) {
  return '"' + shortened(bytes, max_bytes) + '"';
}

std::string grouped(size_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

}  // namespace subako
