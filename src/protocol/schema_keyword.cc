#include "protocol/schema_keyword.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string>

namespace subako::protocol {

namespace {

using json::Kind;
using json::Value;

constexpr std::array kKeywords = {
    Keyword{"$anchor", Shape::kString},
    Keyword{"$comment", Shape::kString},
    Keyword{"$defs", Shape::kSchemaMap},
    Keyword{"$dynamicAnchor", Shape::kString},
    Keyword{"$dynamicRef", Shape::kReference},
    Keyword{"$id", Shape::kString},
    Keyword{"$ref", Shape::kReference},
    Keyword{"$schema", Shape::kString},
    Keyword{"$vocabulary", Shape::kBoolMap},
    Keyword{"additionalProperties", Shape::kSchema},
    Keyword{"allOf", Shape::kSchemas},
    Keyword{"anyOf", Shape::kSchemas},
    Keyword{"contains", Shape::kSchema},
    Keyword{"contentEncoding", Shape::kString},
    Keyword{"contentMediaType", Shape::kString},
    Keyword{"contentSchema", Shape::kSchema},
    Keyword{"definitions", Shape::kSchemaMap},
    Keyword{"dependencies", Shape::kDependencies},
    Keyword{"dependentRequired", Shape::kStringsMap},
    Keyword{"dependentSchemas", Shape::kSchemaMap},
    Keyword{"deprecated", Shape::kBool},
    Keyword{"description", Shape::kString},
    Keyword{"else", Shape::kSchema},
    Keyword{"enum", Shape::kArray},
    Keyword{"examples", Shape::kArray},
    Keyword{"exclusiveMaximum", Shape::kExclusive},
    Keyword{"exclusiveMinimum", Shape::kExclusive},
    Keyword{"format", Shape::kString},
    Keyword{"if", Shape::kSchema},
    Keyword{"items", Shape::kItems},
    Keyword{"maxContains", Shape::kCount},
    Keyword{"maxItems", Shape::kCount},
    Keyword{"maxLength", Shape::kCount},
    Keyword{"maxProperties", Shape::kCount},
    Keyword{"maximum", Shape::kNumber},
    Keyword{"minContains", Shape::kCount},
    Keyword{"minItems", Shape::kCount},
    Keyword{"minLength", Shape::kCount},
    Keyword{"minProperties", Shape::kCount},
    Keyword{"minimum", Shape::kNumber},
    Keyword{"multipleOf", Shape::kPositive},
    Keyword{"not", Shape::kSchema},
    Keyword{"oneOf", Shape::kSchemas},
    Keyword{"pattern", Shape::kString},
    Keyword{"patternProperties", Shape::kSchemaMap},
    Keyword{"prefixItems", Shape::kSchemas},
    Keyword{"properties", Shape::kSchemaMap},
    Keyword{"propertyNames", Shape::kSchema},
    Keyword{"readOnly", Shape::kBool},
    Keyword{"required", Shape::kStrings},
    Keyword{"then", Shape::kSchema},
    Keyword{"title", Shape::kString},
    Keyword{"type", Shape::kType},
    Keyword{"unevaluatedItems", Shape::kSchema},
    Keyword{"unevaluatedProperties", Shape::kSchema},
    Keyword{"uniqueItems", Shape::kBool},
    Keyword{"writeOnly", Shape::kBool},
};
static_assert(std::ranges::is_sorted(kKeywords, {}, &Keyword::name));

constexpr std::array<std::string_view, 7> kTypes = {"array",  "boolean", "integer", "null",
                                                    "number", "object",  "string"};

bool is_type_name(const Value& value) {
  return value.is(Kind::kString) && std::ranges::find(kTypes, json::decode_string(value)) != kTypes.end();
}

bool is_count(const Value& value) {
  if (!value.is(Kind::kNumber)) return false;
  const std::optional<double> number = json::decode_number(value);
  if (!number) return value.raw().front() != '-';  // 1e400 is a count that nothing reaches
  return *number >= 0 && std::floor(*number) == *number;
}

bool is_positive(const Value& value) {
  return value.is(Kind::kNumber) && value.raw().front() != '-' &&
         value.raw().substr(0, value.raw().find_first_of("eE")).find_first_of("123456789") !=
             std::string_view::npos;
}

bool every_element_once(const Value& array, const std::function<bool(const Value&)>& good) {
  std::set<std::string> seen;
  bool all = array.is(Kind::kArray);
  json::for_each_element(array, [&](const Value& element) {
    all = good(element) && seen.insert(json::decode_string(element)).second;
    return all;
  });
  return all;
}

bool is_type(const Value& value) {
  if (!value.is(Kind::kArray)) return is_type_name(value);
  return value.raw().find('"') != std::string_view::npos && every_element_once(value, is_type_name);
}

std::optional<std::string_view> unless(bool good, std::string_view what) {
  return good ? std::nullopt : std::optional(what);
}

}  // namespace

const Keyword* keyword_called(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kKeywords, name, {}, &Keyword::name);
  return found != kKeywords.end() && found->name == name ? found : nullptr;
}

bool is_strings(const Value& value) {
  return every_element_once(value, [](const Value& element) { return element.is(Kind::kString); });
}

std::optional<std::string_view> plain_fault(Shape shape, const Value& value, bool older) {
  switch (shape) {
    case Shape::kString:
    case Shape::kReference:
      return unless(value.is(Kind::kString), "must be a string");
    case Shape::kBool:
      return unless(value.is(Kind::kBool), "must be true or false");
    case Shape::kNumber:
      return unless(value.is(Kind::kNumber), "must be a number");
    case Shape::kPositive:
      return unless(is_positive(value), "must be a number over 0");
    case Shape::kExclusive:
      return unless(value.is(Kind::kNumber) || (older && value.is(Kind::kBool)), "must be a number");
    case Shape::kCount:
      return unless(is_count(value), "must be an integer that is not negative");
    case Shape::kArray:
      return unless(value.is(Kind::kArray), "must be an array");
    case Shape::kStrings:
      return unless(is_strings(value), kMustBeStrings);
    case Shape::kType:
      return unless(is_type(value),
                    "must be the name of a JSON type, or an array of some, none of them twice");
    default:
      return std::nullopt;
  }
}

}  // namespace subako::protocol
