#include "cli/human.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/limits.h"
#include "base/utf8.h"

namespace subako::cli {

namespace {

// The scalar value at the front of valid UTF-8, and its length.
struct Scalar {
  uint32_t value = 0;
  size_t bytes = 1;
};

Scalar first_scalar(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t lead = at(0);
  const size_t bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (bytes == 1 || bytes > text.size()) return {lead, 1};
  uint32_t value = lead & (0xffU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) value = (value << 6U) | (at(i) & 0x3fU);
  return {value, bytes};
}

size_t width_of(uint32_t c) {
  const bool combining =
      (c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200d) || (c >= 0xfe00 && c <= 0xfe0f);
  if (combining) return 0;
  const bool wide =
      (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) ||
      (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
      (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
  return wide ? 2 : 1;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::unexpected<Error> bad_timeout(std::string_view text) {
  return fail(Code::kInvalid, "\"" + utf8::escape_for_people(text) +
                                  "\" is no timeout: write 500ms, 5s or 60 (seconds), between 1ms and 300s");
}

}  // namespace

std::string human_bytes(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < limits::kKiB) return fmt::format("{} B", bytes);
  if (bytes < limits::kMiB) return fmt::format("{:.1f} KiB", value / static_cast<double>(limits::kKiB));
  if (bytes < limits::kGiB) return fmt::format("{:.1f} MiB", value / static_cast<double>(limits::kMiB));
  return fmt::format("{:.1f} GiB", value / static_cast<double>(limits::kGiB));
}

std::string human_ms(double ms) {
  if (ms < 10) return fmt::format("{:.2f} ms", ms);
  if (ms < 1000) return fmt::format("{:.0f} ms", ms);
  return fmt::format("{:.1f} s", ms / 1000);
}

Result<std::chrono::milliseconds> parse_timeout(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (error != std::errc() || (unit != "ms" && unit != "s" && !unit.empty())) return bad_timeout(text);
  const double ms = unit == "ms" ? number : number * 1000;
  // Written so that a NaN is refused too.
  if (!(ms >= 1 && ms <= static_cast<double>(limits::kMaxTimeout.count()))) return bad_timeout(text);
  return std::chrono::milliseconds(static_cast<int64_t>(ms));
}

size_t columns(std::string_view text) {
  size_t n = 0;
  while (!text.empty()) {
    const Scalar scalar = first_scalar(text);
    n += width_of(scalar.value);
    text.remove_prefix(scalar.bytes);
  }
  return n;
}

std::string cut(std::string_view text, size_t most_columns) {
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  std::ranges::replace(line, '\t', ' ');
  if (columns(line) <= most_columns) return line;
  if (most_columns == 0) return "";
  std::string_view rest = line;
  std::string out;
  for (size_t taken = 0; !rest.empty();) {
    const Scalar scalar = first_scalar(rest);
    taken += width_of(scalar.value);
    if (taken > most_columns - 1) break;
    out += rest.substr(0, scalar.bytes);
    rest.remove_prefix(scalar.bytes);
  }
  while (out.ends_with(' ')) out.pop_back();
  return out + "…";
}

std::string table(const std::vector<std::vector<std::string>>& rows, size_t width) {
  constexpr size_t kGap = 2;
  constexpr size_t kLeastLast = 20;  // of the last column, however narrow the terminal
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    size_t used = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i + 1 == widths.size()) {
        line += cut(row[i], std::max(kLeastLast, width > used ? width - used : 0));
      } else {
        line += row[i] + std::string(widths[i] - columns(row[i]) + kGap, ' ');
        used += widths[i] + kGap;
      }
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& words) {
  std::string_view best;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : words) {
    const size_t distance =
        candidate.starts_with(word) && !word.empty() ? 1 : edit_distance(word.substr(0, 64), candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace subako::cli
