#include "abi/import.h"

namespace subako::abi {

std::string describe(const FunctionType& type) {
  std::string text = "(";
  for (size_t i = 0; i < type.param_count; ++i) {
    if (i > 0) text += ", ";
    text += type.params[i] == ValueType::kI64 ? "i64" : "i32";
  }
  return text + (type.returns_i32 ? ") -> i32" : ") -> ()");
}

const Import* find(std::span<const Import> sorted, std::string_view name) {
  const auto at = std::ranges::lower_bound(sorted, name, {}, &Import::name);
  return at != sorted.end() && at->name == name ? &*at : nullptr;
}

Stop detail::named(std::string_view function, Stop why) {
  if (auto* trap = std::get_if<Trap>(&why)) trap->message = std::string(function) + ": " + trap->message;
  return why;
}

}  // namespace subako::abi
