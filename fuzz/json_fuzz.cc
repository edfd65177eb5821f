// Any bytes as JSON, against Boost.JSON (spec: C6, C10): what one accepts the other accepts, both read the same, and so is the
// compact copy. The first byte chooses the rules.
#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "input.h"
#include "protocol/json.h"
#include "require.h"

using namespace subako;
using fuzz::require;
using json::Kind;
using json::Value;

namespace {

constexpr uint32_t kDepth = 3000;  // of Boost too: longer inputs there are none

// Both as one canonical text, members by name. Numbers are left out: Boost 1.81 rounds some of them otherwise.
std::string canonical(const boost::json::value& value);
std::string canonical(const Value& value);

std::string in_braces(const std::set<std::pair<std::string, std::string>>& members) {
  std::string out = "{";
  for (const auto& [name, member] : members) out += json::quoted(name) + ":" + member + ",";
  return out + "}";
}

std::string canonical(const boost::json::value& value) {
  std::string out;
  if (const auto* object = value.if_object()) {
    std::set<std::pair<std::string, std::string>> members;
    for (const auto& [name, member] : *object)
      members.emplace(std::string(name.data(), name.size()), canonical(member));
    return in_braces(members);
  }
  if (const auto* array = value.if_array()) {
    for (const auto& element : *array) out += canonical(element) + ",";
    return "[" + out + "]";
  }
  if (const auto* string = value.if_string())
    return json::quoted(std::string_view(string->data(), string->size()));
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  return value.is_null() ? "null" : "number";
}

// Of duplicates the last counts.
std::string canonical(const Value& value) {
  std::string out;
  switch (value.kind()) {
    case Kind::kObject: {
      std::set<std::pair<std::string, std::string>> members;
      std::set<std::string> names;
      json::for_each_member(value,
                            [&](const std::string& name, const Value&) { return names.insert(name), true; });
      for (const std::string& name : names) members.emplace(name, canonical(*json::find(value, name)));
      return in_braces(members);
    }
    case Kind::kArray:
      json::for_each_element(value,
                             [&](const Value& element) { return out += canonical(element) + ",", true; });
      return "[" + out + "]";
    case Kind::kString:
      return json::quoted(json::decode_string(value));
    case Kind::kNumber:
      return "number";
    case Kind::kBool:
      return json::decode_bool(value) ? "true" : "false";
    default:
      return "null";
  }
}

void check_number(const Value& number) {
  const auto ours = json::decode_number(number);
  double theirs = 0;
  const std::string_view raw = number.raw();
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), theirs);
  require(end == raw.data() + raw.size(), "a number is one number", raw);
  if (error == std::errc()) require(ours && *ours == theirs, "a number has its value", raw);
}

// Every value lies where its parent says, and means what its bytes mean.
void check_value(std::string_view text, const Value& value) {
  const std::string_view raw = value.raw();
  require(raw.data() >= text.data() && raw.data() + raw.size() <= text.data() + text.size(),
          "a value is a slice of the text");
  const auto again = json::parse(raw, {.max_depth = kDepth});
  require(again && again->kind() == value.kind() && again->raw() == raw, "a value is one by itself", raw);
  if (value.is(Kind::kNumber)) check_number(value);
  if (value.is(Kind::kString)) {
    const std::string decoded = json::decode_string(value);
    require(utf8::valid(decoded), "a string is UTF-8");
    const std::string quoted = json::quoted(decoded);
    const auto back = json::parse(quoted, {.refuse_lone_surrogates = true});
    require(back && json::decode_string(*back) == decoded, "a string is the same when it is quoted and read",
            raw);
  }
}

void check_accepted(std::string_view text, const Value& value) {
  check_value(text, value);
  json::for_each_member(
      value, [&](const std::string&, const Value& member) { return check_value(text, member), true; });
  json::for_each_element(value, [&](const Value& element) { return check_value(text, element), true; });
  const std::string compact = json::compact(value);
  require(compact.size() == json::compact_size(value), "a compact text has the size that is told");
  const auto copy = json::parse(compact, {.max_depth = kDepth});
  require(copy.has_value() && copy->raw() == compact, "a compact text is JSON", compact);
  require(json::compact(*copy) == compact, "a compact text is compact", compact);
  require(canonical(*copy) == canonical(value), "a compact text means the same", compact);
}

bool refuses_more(const json::Rules& rules) {
  return rules.max_depth != kDepth || rules.refuse_numbers_outside_double;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t choice = input.byte();
  const std::string_view text = input.rest();
  // Boost refuses lone surrogates always.
  const json::Rules alike{.max_depth = kDepth, .refuse_lone_surrogates = true};
  const json::Rules chosen{.max_depth = (choice & 1U) != 0 ? 3U : kDepth,
                           .refuse_lone_surrogates = (choice & 2U) != 0,
                           .refuse_numbers_outside_double = (choice & 4U) != 0};
  boost::json::error_code error;
  boost::json::parse_options options;
  options.max_depth = kDepth;
  const boost::json::value theirs =
      boost::json::parse(boost::json::string_view(text.data(), text.size()), error, {}, options);
  const auto ours = json::parse(text, alike);
  if (!ours)
    require(ours.error().offset <= text.size() && !ours.error().what.empty(),
            "a fault has its place and its name");
  if (error != boost::json::error::exponent_overflow) {  // a limit of its own
    require(ours.has_value() == !error, "both accept or both refuse",
            ours ? error.message() : ours.error().what);
    if (ours) require(canonical(*ours) == canonical(theirs), "both read the same", text);
  }
  const auto by_rules = json::parse(text, chosen);
  if (ours && !refuses_more(chosen)) require(by_rules.has_value(), "fewer rules refuse no more", text);
  if (by_rules) check_accepted(text, *by_rules);
  return 0;
}
