#include "protocol/names.h"

#include "base/limits.h"
#include "base/quote.h"

namespace subako::protocol {

std::optional<std::string> name_fault(std::string_view name) {
  if (name.empty()) return "is empty";
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  if (const size_t bad = name.find_first_not_of(kAllowed); bad != std::string_view::npos) {
    // The whole character, of which `bad` is the first byte.
    size_t end = bad + 1;
    while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) ++end;
    return "has a character that is not allowed, " + in_quotes(name.substr(bad, end - bad));
  }
  if (name.size() > limits::kNameChars) {
    return "is " + grouped(name.size()) + " characters long and may have at most " +
           std::to_string(limits::kNameChars);
  }
  return std::nullopt;
}

}  // namespace subako::protocol
