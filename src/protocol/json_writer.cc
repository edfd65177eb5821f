#include "protocol/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "protocol/json.h"

namespace subako::json {

void Writer::new_line() {
  if (style_ == Style::kCompact) return;
  out_ += '\n';
  out_.append(2 * has_members_.size(), ' ');
}

void Writer::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_members_.empty()) return;
  if (has_members_.back()) out_ += ',';
  has_members_.back() = true;
  new_line();
}

Writer& Writer::open(char bracket) {
  before_value();
  out_ += bracket;
  has_members_.push_back(false);
  return *this;
}

Writer& Writer::close(char bracket) {
  const bool filled = has_members_.back();
  has_members_.pop_back();
  if (filled) new_line();
  out_ += bracket;
  return *this;
}

Writer& Writer::begin_object() {
  return open('{');
}
Writer& Writer::end_object() {
  return close('}');
}
Writer& Writer::begin_array() {
  return open('[');
}
Writer& Writer::end_array() {
  return close(']');
}

Writer& Writer::key(std::string_view name) {
  string(name);
  out_ += style_ == Style::kCompact ? ":" : ": ";
  after_key_ = true;
  return *this;
}

Writer& Writer::string(std::string_view text) {
  before_value();
  if (utf8::valid(text)) {
    append_quoted(out_, text);
  } else {
    append_quoted(out_, utf8::lossy(text));
  }
  return *this;
}

Writer& Writer::int64(int64_t value) {
  return raw(std::to_string(value));
}
Writer& Writer::uint64(uint64_t value) {
  return raw(std::to_string(value));
}

Writer& Writer::number(double value) {
  if (!std::isfinite(value)) return null();
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return raw(std::string_view(digits.data(), static_cast<size_t>(end - digits.data())));
}

Writer& Writer::boolean(bool value) {
  return raw(value ? "true" : "false");
}
Writer& Writer::null() {
  return raw("null");
}

Writer& Writer::raw(std::string_view valid_json) {
  before_value();
  out_ += valid_json;
  return *this;
}

}  // namespace subako::json
