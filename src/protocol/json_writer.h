// Builds JSON of our own, token after token: compact, or indented by two spaces for people. Commas, colons
// and line ends are put in here; calling in an order that JSON doesn't have (a value without its key) is a
// bug of the caller.
//
//   Writer out(Writer::Style::kIndented);
//   out.begin_object().key("tools").begin_array().string("greet").end_array().end_object();
//   std::move(out).text();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace subako::json {

class Writer {
 public:
  enum class Style : uint8_t { kCompact, kIndented };
  explicit Writer(Style style = Style::kCompact) : style_(style) {}

  Writer& begin_object();
  Writer& end_object();
  Writer& begin_array();
  Writer& end_array();
  Writer& key(std::string_view name);

  // Texts are UTF-8; bytes that are not become U+FFFD, so that the output is always JSON.
  Writer& string(std::string_view text);
  Writer& int64(int64_t value);
  Writer& uint64(uint64_t value);
  Writer& number(double value);  // the shortest that reads back the same; NaN and infinities, which JSON has
                                 // not, as null
  Writer& boolean(bool value);
  Writer& null();
  Writer& raw(std::string_view valid_json);  // as it is, not indented

  [[nodiscard]] const std::string& text() const& { return out_; }
  [[nodiscard]] std::string text() && { return std::move(out_); }

 private:
  Writer& open(char bracket);
  Writer& close(char bracket);
  void before_value();
  void new_line();

  Style style_;
  std::string out_;
  std::vector<bool> has_members_;  // one for each open array or object
  bool after_key_ = false;
};

}  // namespace subako::json
