#include "protocol/json.h"

#include <charconv>
#include <vector>

#include "base/utf8.h"
#include "protocol/json_text.h"

namespace subako::json {

namespace {

// One pass over a text, without recursion: what is open is a stack of bits, bounded by Rules::max_depth.
class Scanner {
 public:
  Scanner(std::string_view text, const Rules& rules) : text_(text), rules_(rules) {}

  std::expected<Value, SyntaxError> run() {
    skip_space();
    const size_t begin = at_;
    if (!document()) return std::unexpected(std::move(error_));
    const std::string_view raw = text_.substr(begin, at_ - begin);
    skip_space();
    if (!done()) {
      fail("more text after the value");
      return std::unexpected(std::move(error_));
    }
    return value_of(raw);
  }

 private:
  enum class Step { kFailed, kValueNext, kValueDone };

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool fail(std::string what) { return fail_at(at_, std::move(what)); }
  bool fail_at(size_t offset, std::string what) {
    error_ = {offset, offset >= text_.size() ? "the text ends too early" : std::move(what)};
    return false;
  }
  void skip_space() { at_ = after_space(text_, at_); }

  bool document() {
    Step step = begin_value();
    while (step != Step::kFailed) {
      if (step == Step::kValueNext) {
        step = begin_value();
      } else if (in_object_.empty()) {
        return true;
      } else {
        step = after_value();
      }
    }
    return false;
  }

  Step begin_value() {
    switch (peek()) {
      case '{':
      case '[':
        return open();
      case '"':
        return string() ? Step::kValueDone : Step::kFailed;
      case 't':
        return literal("true");
      case 'f':
        return literal("false");
      case 'n':
        return literal("null");
      default:
        return number() ? Step::kValueDone : Step::kFailed;
    }
  }

  Step open() {
    if (in_object_.size() >= rules_.max_depth) {
      fail("nesting over " + std::to_string(rules_.max_depth) + " levels");
      return Step::kFailed;
    }
    const bool object = text_[at_++] == '{';
    in_object_.push_back(object);
    skip_space();
    if (peek() == (object ? '}' : ']')) {
      ++at_;
      in_object_.pop_back();
      return Step::kValueDone;
    }
    return !object || member_name() ? Step::kValueNext : Step::kFailed;
  }

  // After a value within an array or object: its end, or a comma and what follows that.
  Step after_value() {
    const bool object = in_object_.back();
    skip_space();
    if (peek() == (object ? '}' : ']')) {
      ++at_;
      in_object_.pop_back();
      return Step::kValueDone;
    }
    if (peek() != ',') {
      fail(object ? "expected ',' or '}'" : "expected ',' or ']'");
      return Step::kFailed;
    }
    ++at_;
    skip_space();
    return !object || member_name() ? Step::kValueNext : Step::kFailed;
  }

  bool member_name() {
    if (peek() != '"') return fail("expected a member name in double quotes");
    if (!string()) return false;
    skip_space();
    if (peek() != ':') return fail("expected ':' after a member name");
    ++at_;
    skip_space();
    return true;
  }

  Step literal(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) {
      fail("expected a value");
      return Step::kFailed;
    }
    at_ += word.size();
    return Step::kValueDone;
  }

  bool string() {
    ++at_;
    for (;;) {
      at_ = after_plain(text_, at_);
      if (done()) return fail({});
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c != '\\') return fail("a control character within a string");
      if (!escape()) return false;
    }
  }

  bool escape() {
    const size_t begin = at_++;
    if (done()) return fail({});
    constexpr std::string_view kSimple = "\"\\/bfnrt";
    const char c = text_[at_++];
    if (kSimple.find(c) != std::string_view::npos) return true;
    if (c != 'u') return fail_at(begin, "an escape that JSON doesn't have");
    const std::optional<uint32_t> unit = hex4(text_, at_);
    if (!unit)
      return text_.size() - at_ < 4 ? fail_at(text_.size(), {}) : fail_at(begin, "an incomplete \\u escape");
    at_ += 4;
    if (!rules_.refuse_lone_surrogates || !is_surrogate(*unit)) return true;
    // The rule is about Unicode, not syntax: a high half must be followed by the escape of a low one.
    const bool paired = is_high_surrogate(*unit) && text_.substr(at_, 2) == "\\u";
    const std::optional<uint32_t> low = paired ? hex4(text_, at_ + 2) : std::nullopt;
    if (!low || !is_low_surrogate(*low)) return fail_at(begin, "a lone surrogate escape");
    at_ += 6;
    return true;
  }

  size_t digits() {
    const size_t begin = at_;
    while (is_digit(peek())) ++at_;
    return at_ - begin;
  }

  bool number() {
    const size_t begin = at_;
    if (peek() == '-') ++at_;
    const size_t first = at_;
    const size_t whole = digits();
    if (whole == 0) return begin == at_ ? fail("expected a value") : fail("expected a digit after '-'");
    if (whole > 1 && text_[first] == '0') return fail_at(first, "a number with a leading zero");
    bool scaled = false;
    if (peek() == '.') {
      ++at_;
      if (digits() == 0) return fail("expected a digit after '.'");
    }
    if (peek() == 'e' || peek() == 'E') {
      scaled = true;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (digits() == 0) return fail("expected a digit in the exponent");
    }
    // Without an exponent, 308 digits before the point are always inside.
    if (!rules_.refuse_numbers_outside_double || (!scaled && whole <= 308)) return true;
    const Value value(Kind::kNumber, text_.substr(begin, at_ - begin));
    return decode_number(value) ? true : fail_at(begin, "a number outside the range of a double");
  }

  std::string_view text_;
  const Rules& rules_;
  size_t at_ = 0;
  std::vector<bool> in_object_;
  SyntaxError error_;
};

}  // namespace

std::expected<Value, SyntaxError> parse(std::string_view text, const Rules& rules) {
  if (text.starts_with("\xef\xbb\xbf")) return std::unexpected(SyntaxError{0, "a byte order mark"});
  // Only strings may hold other bytes than ASCII, and there the scanner lets them all pass: UTF-8 is looked
  // at on its own.
  const size_t bad = utf8::first_bad_byte(text);
  std::expected<Value, SyntaxError> scanned = Scanner(text, rules).run();
  if (bad == std::string_view::npos || (!scanned && scanned.error().offset < bad)) return scanned;
  return std::unexpected(SyntaxError{bad, "bytes that are not UTF-8"});
}

}  // namespace subako::json
