#include "bundle/tar_header.h"

#include <algorithm>
#include <charconv>
#include <span>

namespace subako::bundle {

namespace {

struct Field {
  size_t at;
  size_t length;
};
constexpr Field kName{0, 100};
constexpr Field kSize{124, 12};
constexpr Field kChecksum{148, 8};
constexpr size_t kType = 156;
constexpr Field kMagic{257, 6};  // "ustar\0" is POSIX; GNU's "ustar " has no prefix field
constexpr Field kPrefix{345, 155};

std::string_view bytes_of(const TarBlock& block, Field field) {
  return {block.data() + field.at, field.length};
}

std::string_view text_of(const TarBlock& block, Field field) {
  const std::string_view bytes = bytes_of(block, field);
  return bytes.substr(0, bytes.find('\0'));
}

// Octal digits with spaces before and spaces or NULs after; nothing at all is 0.
std::optional<uint64_t> octal(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const size_t digits = std::min(text.find_first_not_of("01234567"), text.size());
  if (text.find_first_not_of(std::string_view(" \0", 2), digits) != std::string_view::npos)
    return std::nullopt;
  if (digits == 0) return 0;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value, 8);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// GNU's form for what octal digits don't hold: the top bit of the first byte is set, the rest is a big-endian
// number.
std::optional<uint64_t> number(std::string_view field) {
  const auto lead = static_cast<uint8_t>(field.front());
  if (lead < 0x80) return octal(field);
  if (lead != 0x80) return std::nullopt;  // negative, or past any size there is
  uint64_t value = 0;
  for (const char c : field.substr(1)) {
    if (value >> 55U != 0) return std::nullopt;
    value = (value << 8U) | static_cast<uint8_t>(c);
  }
  return value;
}

bool take_pax_record(PaxRecords& records, std::string_view key, std::string_view value) {
  if (key == "path") {
    if (!value.empty()) records.path = std::string(value);
  } else if (key == "size") {
    uint64_t size = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), size);
    if (error != std::errc() || end != value.data() + value.size()) return false;
    records.size = size;
  } else if (key.starts_with("GNU.sparse.") || key == "SCHILY.realsize") {
    records.sparse = true;
  }
  return true;
}

}  // namespace

bool is_zero(const TarBlock& block) {
  return std::ranges::all_of(block, [](char c) { return c == 0; });
}

bool has_tar_checksum(const TarBlock& block) {
  const std::optional<uint64_t> written = number(bytes_of(block, kChecksum));
  uint64_t as_unsigned = 0;
  int64_t as_signed = 0;  // as some old tars summed
  for (size_t i = 0; i < kTarBlock; ++i) {
    const bool in_field = i >= kChecksum.at && i < kChecksum.at + kChecksum.length;
    const char c = in_field ? ' ' : block[i];
    as_unsigned += static_cast<uint8_t>(c);
    as_signed += static_cast<signed char>(c);
  }
  return written &&
         (*written == as_unsigned || (as_signed >= 0 && *written == static_cast<uint64_t>(as_signed)));
}

std::expected<TarHeader, std::string> parse_tar_header(const TarBlock& block) {
  if (!has_tar_checksum(block)) return std::unexpected("a header's checksum is wrong");
  TarHeader header;
  header.type = block[kType];
  const std::optional<uint64_t> size = number(bytes_of(block, kSize));
  if (!size) return std::unexpected("a header's size is no number");
  header.size = *size;
  if (bytes_of(block, kMagic) == std::string_view("ustar\0", 6)) {
    const std::string_view prefix = text_of(block, kPrefix);
    if (!prefix.empty()) header.path = std::string(prefix) + "/";
  }
  header.path += text_of(block, kName);
  return header;
}

// Records are "<length> <key>=<value>\n", the length being that of the whole record.
std::expected<PaxRecords, std::string> parse_pax(std::string_view body) {
  PaxRecords records;
  while (!body.empty()) {
    size_t length = 0;
    const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), length);
    const auto digits = static_cast<size_t>(end - body.data());
    if (error != std::errc() || length > body.size() || length < digits + 2 || body[digits] != ' ' ||
        body[length - 1] != '\n') {
      return std::unexpected("a pax record is malformed");
    }
    const std::string_view record = body.substr(digits + 1, length - digits - 2);
    const size_t equals = record.find('=');
    if (equals == std::string_view::npos) return std::unexpected("a pax record is malformed");
    if (!take_pax_record(records, record.substr(0, equals), record.substr(equals + 1))) {
      return std::unexpected("a pax size is no number");
    }
    body.remove_prefix(length);
  }
  return records;
}

}  // namespace subako::bundle
