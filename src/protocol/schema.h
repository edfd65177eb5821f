// Is a JSON value a JSON Schema (spec: U3)? Its keywords must have values of the type that draft 2020-12
// gives them, at every depth; words that it doesn't know are fine, `pattern` is not compiled and nothing is
// fetched. Pure.
//
// A schema that says in its `$schema` to be of an older draft may use that draft's forms: a list of schemas
// as `items` and, in draft 4, a boolean `exclusiveMinimum`.
#pragma once

#include <functional>
#include <string>

#include "protocol/json.h"

namespace subako::protocol {

struct SchemaFault {
  enum class Kind : uint8_t { kWrongType, kRemoteReference };
  Kind kind = Kind::kWrongType;
  std::string
      where;  // "/properties/name/type"; its beginning is cut where it is long; empty for the whole schema
  std::string message;  // completes "... at <where>: "
};

// Every fault, in no particular order. Costs at most nesting times size.
void check_schema(const json::Value& schema, const std::function<void(SchemaFault)>& report);

}  // namespace subako::protocol
