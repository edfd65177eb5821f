// Our scanner against Boost.JSON, on valid texts and on broken ones made of them: what one accepts the other
// accepts, and both read the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "protocol/json.h"

namespace subako::json {
namespace {

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  std::string value(size_t depth) {
    switch (below(depth == 0 ? 4 : 7)) {
      case 0:
        return pick({"null", "true", "false"});
      case 1:
        return pick({"0", "-0", "-0.0", "1", "12.5e3", "1E-2", "9223372036854775808", "1e300", "-7"});
      case 2:
      case 3:
        return string();
      case 4:
      case 5:
        return list('{', '}', depth, true);
      default:
        return list('[', ']', depth, false);
    }
  }

  std::string mutated(std::string text) {
    for (size_t n = below(3); n > 0 && !text.empty(); --n) {
      const size_t at = below(text.size());
      switch (below(5)) {
        case 0:
          text.erase(at, 1 + below(3));
          break;
        case 1:
          text.insert(at, pick({",", ":", "\"", "\\", "{", "}", "[", "]", "0", "-", "e", ".", "\n", "\\u",
                                "\xff", "\xe6\x97", "t"}));
          break;
        case 2:
          text[at] = static_cast<char>(below(256));
          break;
        case 3:
          text.insert(at, text.substr(below(text.size()), below(12)));
          break;
        default:
          text.resize(at);
      }
    }
    return text;
  }

 private:
  std::string pick(const std::vector<std::string>& all) { return all[below(all.size())]; }
  std::string space() { return below(4) == 0 ? pick({" ", "\t", "\r", "\n", "  "}) : ""; }

  std::string string() {
    std::string out = "\"";
    for (size_t n = below(5); n > 0; --n) {
      out += pick({"a", "日", "\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\ud83c\\udf71", "🍱", " ", "}", "]",
                   ",", "\\u0000", "\x7f"});
    }
    return out + "\"";
  }

  std::string list(char open, char close, size_t depth, bool object) {
    std::string out(1, open);
    for (size_t n = below(4), i = 0; i < n; ++i) {
      if (i > 0) out += "," + space();
      // Distinct names: of duplicates both keep the last, but in another order.
      if (object) out += "\"k" + std::to_string(i) + "\"" + space() + ":" + space();
      out += value(depth - 1) + space();
    }
    return space() + out + space() + close;
  }

  std::mt19937 random_;
};

// Both as one canonical text. Numbers are left out: Boost 1.81 rounds some of them otherwise.
void write(const boost::json::value& value, std::string& out) {
  if (const auto* object = value.if_object()) {
    out += '{';
    for (const auto& [name, member] : *object) {
      out += json::quoted(std::string_view(name.data(), name.size())) + ":";
      write(member, out);
    }
    out += '}';
  } else if (const auto* array = value.if_array()) {
    out += '[';
    for (const auto& element : *array) write(element, out), out += ',';
    out += ']';
  } else if (const auto* string = value.if_string()) {
    out += json::quoted(std::string_view(string->data(), string->size()));
  } else if (value.is_bool()) {
    out += value.as_bool() ? "true" : "false";
  } else {
    out += value.is_null() ? "null" : "number";
  }
}

void write(const Value& value, std::string& out) {
  switch (value.kind()) {
    case Kind::kObject:
      out += '{';
      for_each_member(value, [&](const std::string& name, const Value& member) {
        out += json::quoted(name) + ":";
        write(member, out);
        return true;
      });
      out += '}';
      break;
    case Kind::kArray:
      out += '[';
      for_each_element(value, [&](const Value& element) {
        write(element, out);
        out += ',';
        return true;
      });
      out += ']';
      break;
    case Kind::kString:
      out += json::quoted(decode_string(value));
      break;
    case Kind::kNumber:
      out += "number";
      break;
    default:
      out += value.raw();
  }
}

bool has_duplicates(const Value& value) {
  bool found = false;
  std::vector<std::string> names;
  for_each_member(value, [&](const std::string& name, const Value& member) {
    found = std::find(names.begin(), names.end(), name) != names.end() || has_duplicates(member);
    names.push_back(name);
    return !found;
  });
  for_each_element(value, [&](const Value& element) {
    found = found || has_duplicates(element);
    return !found;
  });
  return found;
}

TEST(JsonAgainstBoost, both_accept_and_read_the_same) {  // spec: C6, C10
  Generator generate(20260728);
  const Rules rules{.max_depth = 1000,
                    .refuse_lone_surrogates = true};  // Boost refuses lone surrogates always
  boost::json::parse_options options;
  options.max_depth = 1000;
  size_t accepted = 0;
  for (int round = 0; round < 30'000; ++round) {
    const std::string text = generate.mutated(generate.value(5));
    boost::json::error_code error;
    const boost::json::value theirs = boost::json::parse(text, error, {}, options);
    if (error == boost::json::error::exponent_overflow) continue;  // a limit of its own
    const auto ours = parse(text, rules);
    ASSERT_EQ(ours.has_value(), !error)
        << json::quoted(text) << "\nours: " << (ours ? "accepted" : ours.error().what)
        << "\ntheirs: " << error.message();
    if (!ours) continue;
    ++accepted;
    const std::string copy = compact(*ours);
    ASSERT_EQ(copy.size(), compact_size(*ours));
    ASSERT_TRUE(parse(copy, rules).has_value()) << json::quoted(copy);
    if (has_duplicates(*ours)) continue;
    std::string our_reading;
    std::string their_reading;
    std::string reading_of_copy;
    write(*ours, our_reading);
    write(theirs, their_reading);
    write(*parse(copy, rules), reading_of_copy);
    ASSERT_EQ(our_reading, their_reading) << json::quoted(text);
    ASSERT_EQ(our_reading, reading_of_copy) << json::quoted(text);
  }
  EXPECT_GT(accepted, 7'500U);
  EXPECT_LT(accepted, 27'500U);
}

}  // namespace
}  // namespace subako::json
