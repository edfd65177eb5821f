// JSON as text that keeps its bytes (spec: C6, C10): one validating pass, then slices. No DOM: a number such as 2^63 or
// -0.0 stays as it was spelt, and what a guest sends can be passed on untouched.
//
// A Value is a view into the text it was parsed from; the text must outlive it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/limits.h"

namespace subako::json {

enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

struct SyntaxError {
  size_t offset = 0;  // bytes from the start of the text
  std::string what;   // "expected a value", "nesting over 120 levels", ...
};

struct Rules {
  uint32_t max_depth = limits::kJsonDepth;      // arrays and objects within each other
  bool refuse_lone_surrogates = false;          // C10; else read as U+FFFD (C6)
  bool refuse_numbers_outside_double = false;   // C10: 1e400 (an underflow to zero is inside)
};

class Value {
 public:
  // Of text that parse() has accepted (raw without white space around it).
  Value(Kind kind, std::string_view raw) : kind_(kind), raw_(raw) {}
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] std::string_view raw() const { return raw_; }
  [[nodiscard]] bool is(Kind kind) const { return kind_ == kind; }

 private:
  Kind kind_;
  std::string_view raw_;
};

// The whole of `text` must be one value: RFC 8259, UTF-8, no byte order mark; white space (CR too) around it is fine.
[[nodiscard]] std::expected<Value, SyntaxError> parse(std::string_view text, const Rules& rules = {});

// Members in the order of the text, duplicates included; the name is decoded. `each` returns false to stop.
void for_each_member(const Value& object, const std::function<bool(const std::string& name, const Value&)>& each);
void for_each_element(const Value& array, const std::function<bool(const Value&)>& each);

// The member called `name`; of duplicates the last. None where `value` is no object.
[[nodiscard]] std::optional<Value> find(const Value& value, std::string_view name);
// The members called `names`, each as find() has it, in one pass over the object: `found[i]` is that of `names[i]`.
void find_all(const Value& value, std::span<const std::string_view> names, std::span<std::optional<Value>> found);
template <size_t N>
[[nodiscard]] std::array<std::optional<Value>, N> find_all(const Value& value,
                                                           const std::array<std::string_view, N>& names) {
  std::array<std::optional<Value>, N> found;
  find_all(value, names, found);
  return found;
}

// As find(), but a null member is an absent one (spec: U3).
[[nodiscard]] std::optional<Value> find_non_null(const Value& value, std::string_view name);

[[nodiscard]] std::string decode_string(const Value& string);  // lone surrogate escapes become U+FFFD
[[nodiscard]] bool decode_bool(const Value& boolean);
[[nodiscard]] std::optional<double> decode_number(const Value& number);  // none where outside double range

// The same tokens without the white space between them.
[[nodiscard]] std::string compact(const Value& value);
[[nodiscard]] size_t compact_size(const Value& value);

// `text` (valid UTF-8) as a JSON string with its quotes, appended to `out`.
void append_quoted(std::string& out, std::string_view text);
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace subako::json
