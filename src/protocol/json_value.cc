// Looking into JSON that parse() has accepted: nothing here can meet a syntax error.
#include <charconv>
#include <limits>
#include <system_error>

#include "protocol/json.h"
#include "protocol/json_text.h"

namespace subako::json {

namespace {

void append_utf8(std::string& out, uint32_t scalar) {
  const auto byte = [&](uint32_t value) { out += static_cast<char>(value); };
  if (scalar < 0x80) {
    byte(scalar);
  } else if (scalar < 0x800) {
    byte(0xc0U | (scalar >> 6U));
    byte(0x80U | (scalar & 0x3fU));
  } else if (scalar < 0x10000) {
    byte(0xe0U | (scalar >> 12U));
    byte(0x80U | ((scalar >> 6U) & 0x3fU));
    byte(0x80U | (scalar & 0x3fU));
  } else {
    byte(0xf0U | (scalar >> 18U));
    byte(0x80U | ((scalar >> 12U) & 0x3fU));
    byte(0x80U | ((scalar >> 6U) & 0x3fU));
    byte(0x80U | (scalar & 0x3fU));
  }
}

// The escape whose backslash is at `at`; returns the offset after it (after both where two halves make a
// character).
size_t append_escape(std::string& out, std::string_view inner, size_t at) {
  const char c = inner[at + 1];
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  if (const size_t simple = kNames.find(c); simple != std::string_view::npos) {
    out += kMeant[simple];
    return at + 2;
  }
  constexpr uint32_t kReplacement = 0xfffd;
  const uint32_t unit = hex4(inner, at + 2).value_or(kReplacement);
  at += 6;
  if (!is_surrogate(unit)) {
    append_utf8(out, unit);
    return at;
  }
  if (is_high_surrogate(unit) && inner.substr(at, 2) == "\\u") {
    const uint32_t low = hex4(inner, at + 2).value_or(0);
    if (is_low_surrogate(low)) {
      append_utf8(out, 0x10000 + ((unit - 0xd800) << 10U) + (low - 0xdc00));
      return at + 6;
    }
  }
  append_utf8(out, kReplacement);
  return at;
}

// Is the number, known to be out of range, too large (rather than too near to zero)? By the place of its
// first digit that isn't 0 and its exponent.
bool too_large(std::string_view raw) {
  int64_t place = 0;  // of the first significant digit: 10^(place-1)
  bool significant = false;
  bool point = false;
  size_t at = raw.front() == '-' ? 1 : 0;
  for (; at < raw.size() && raw[at] != 'e' && raw[at] != 'E'; ++at) {
    if (raw[at] == '.') {
      point = true;
    } else if (significant) {
      place += point ? 0 : 1;
    } else if (raw[at] != '0') {
      significant = true;
      place += point ? 0 : 1;
    } else if (point) {
      --place;
    }
  }
  if (at == raw.size()) return place > 0;
  ++at;
  const bool negative = raw[at] == '-';
  if (raw[at] == '-' || raw[at] == '+') ++at;
  constexpr int64_t kEnough = std::numeric_limits<int64_t>::max() / 100;  // far beyond any length of a text
  int64_t exponent = 0;
  for (; at < raw.size() && exponent < kEnough; ++at) exponent = exponent * 10 + (raw[at] - '0');
  return place + (negative ? -exponent : exponent) > 0;
}

}  // namespace

void for_each_member(const Value& object,
                     const std::function<bool(const std::string& name, const Value&)>& each) {
  for_each_raw_member(object, [&](std::string_view raw_name, const Value& value) {
    return each(decode_string(Value(Kind::kString, raw_name)), value);
  });
}

void for_each_element(const Value& array, const std::function<bool(const Value&)>& each) {
  const std::string_view text = array.raw();
  if (!array.is(Kind::kArray)) return;
  size_t at = after_space(text, 1);
  while (at < text.size() && text[at] != ']') {
    const size_t end = after_value(text, at);
    if (!each(value_of(text.substr(at, end - at)))) return;
    at = after_space(text, end);
    if (at < text.size() && text[at] == ',') at = after_space(text, at + 1);
  }
}

void find_all(const Value& value, std::span<const std::string_view> names, std::span<std::optional<Value>> found) {
  for_each_raw_member(value, [&](std::string_view raw_name, const Value& member) {
    std::string decoded;
    std::string_view spelt = raw_name.substr(1, raw_name.size() - 2);
    if (spelt.find('\\') != std::string_view::npos) spelt = decoded = decode_string(Value(Kind::kString, raw_name));
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == spelt) found[i] = member;
    }
    return true;
  });
}

std::optional<Value> find(const Value& value, std::string_view name) {
  std::optional<Value> found;
  find_all(value, {&name, 1}, {&found, 1});
  return found;
}

std::optional<Value> find_non_null(const Value& value, std::string_view name) {
  std::optional<Value> found = find(value, name);
  if (found && found->is(Kind::kNull)) return std::nullopt;
  return found;
}

std::string decode_string(const Value& string) {
  if (!string.is(Kind::kString)) return {};
  const std::string_view inner = string.raw().substr(1, string.raw().size() - 2);
  std::string out;
  out.reserve(inner.size());
  for (size_t at = 0; at < inner.size();) {
    const size_t next = inner.find('\\', at);
    out.append(inner.substr(at, next - at));
    if (next == std::string_view::npos) break;
    at = append_escape(out, inner, next);
  }
  return out;
}

bool decode_bool(const Value& boolean) {
  return boolean.raw() == "true";
}

std::optional<double> decode_number(const Value& number) {
  if (!number.is(Kind::kNumber)) return std::nullopt;
  const std::string_view raw = number.raw();
  double value = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  // from_chars says the same of 1e400 and of 1e-400; the second is a zero to every reader of doubles.
  if (error == std::errc::result_out_of_range) {
    if (too_large(raw)) return std::nullopt;
    return raw.front() == '-' ? -0.0 : 0.0;
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace subako::json
