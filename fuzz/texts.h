// What every sentence of ours must be, whatever a stranger's bytes gave cause for (spec: C9, U4).
#pragma once

#include <string>
#include <string_view>

#include "base/refusal.h"
#include "base/utf8.h"
#include "require.h"

namespace subako::fuzz {

inline void require_line(std::string_view text) {
  require(utf8::valid(text), "a sentence is UTF-8", text);
  require(utf8::escape_for_people(text) == text, "a sentence holds nothing that moves a cursor", text);
  require(text.find_first_of("\n\t") == std::string_view::npos, "a sentence is one line", text);
}

inline void require_sentence(std::string_view text, size_t most = 2000) {
  require_line(text);
  require(!text.empty() && text.size() <= most, "a sentence says something, and not too much", text);
}

inline void check_refusal(const Refusal& refusal) {
  require(refusal.rule.size() == 2, "a refusal names its rule", refusal.rule);
  require_line(refusal.where);
  require_sentence(refusal.message);
  require_line(refusal.hint);
}

inline void check_refusals(const Refusals& refusals, size_t most) {
  require(refusals.size() <= most, "refusals are counted after some");
  for (const Refusal& refusal : refusals) check_refusal(refusal);
}

inline void check_warnings(const Warnings& warnings, size_t most) {
  require(warnings.size() <= most, "warnings are counted after some");
  for (const Warning& warning : warnings) check_refusal({warning.rule, warning.where, warning.message, ""});
}

}  // namespace subako::fuzz
