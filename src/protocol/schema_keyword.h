// The keywords of JSON Schema, draft 2020-12 (spec: U3), and what the value of each must be. Private to
// schema.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/json.h"

namespace subako::protocol {

// What the value of a keyword must be.
enum class Shape : uint8_t {
  kString,
  kReference,  // a string; a warning where it leads elsewhere
  kBool,
  kNumber,
  kPositive,   // a number over 0
  kExclusive,  // a number; a boolean in draft 4
  kCount,      // an integer, 0 or more
  kArray,
  kStrings,  // no string twice
  kType,     // one of the names of types, or some of them
  kSchema,
  kItems,  // a schema; a list of schemas in older drafts
  kSchemas,
  kSchemaMap,
  kStringsMap,
  kDependencies,  // a map of schemas or lists of strings
  kBoolMap,
};

struct Keyword {
  std::string_view name;
  Shape shape;
};

// None where the word is not a keyword.
[[nodiscard]] const Keyword* keyword_called(std::string_view name);

// What a value of this shape must be, where it isn't; none too for the shapes that hold schemas. `older`: by
// the forms of an older draft.
[[nodiscard]] std::optional<std::string_view> plain_fault(Shape shape, const json::Value& value, bool older);

inline constexpr std::string_view kMustBeStrings = "must be an array of strings, none of them twice";
[[nodiscard]] bool is_strings(const json::Value& value);

}  // namespace subako::protocol
