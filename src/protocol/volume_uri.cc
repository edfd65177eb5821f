// `volume:///` URIs (spec: R3). What is made here names a path beneath /volume as text; that it stays beneath
// the tree, links and all, is the business of whoever opens it.
#include <cstdint>
#include <optional>

#include "base/utf8.h"
#include "protocol/call_result.h"
#include "protocol/json_text.h"

namespace subako::protocol {

namespace {

// One segment decoded; none for an escape that isn't one, and for the bytes that no segment can hold.
std::optional<std::string> decode_segment(std::string_view segment) {
  std::string out;
  out.reserve(segment.size());
  for (size_t at = 0; at < segment.size(); ++at) {
    char c = segment[at];
    if (c == '%') {
      if (segment.size() - at < 3) return std::nullopt;
      const auto byte = json::hex4(std::string("00").append(segment.substr(at + 1, 2)), 0);
      if (!byte) return std::nullopt;
      c = static_cast<char>(static_cast<uint8_t>(*byte));
      at += 2;
    }
    if (c == '/' || c == '\0') return std::nullopt;
    out += c;
  }
  return out;
}

// Schemes are compared without regard to case (RFC 3986).
bool take_scheme(std::string_view& uri) {
  constexpr std::string_view kScheme = "volume";
  if (uri.size() <= kScheme.size() || uri[kScheme.size()] != ':') return false;
  for (size_t i = 0; i < kScheme.size(); ++i) {
    const char c = uri[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kScheme[i]) return false;
  }
  uri.remove_prefix(kScheme.size() + 1);
  return true;
}

}  // namespace

std::optional<std::string> volume_path(std::string_view uri, bool data_enabled) {
  if (!take_scheme(uri) || !uri.starts_with("///") || uri.find_first_of("?#") != std::string_view::npos) {
    return std::nullopt;
  }
  uri.remove_prefix(2);
  std::string path;
  size_t segments = 0;
  while (!uri.empty()) {
    uri.remove_prefix(1);
    const std::string_view raw = uri.substr(0, uri.find('/'));
    uri.remove_prefix(raw.size());
    const std::optional<std::string> segment = decode_segment(raw);
    if (!segment || *segment == "..") return std::nullopt;
    if (segment->empty() || *segment == ".") continue;
    if (segments == 0 && *segment != "tmp" && !(data_enabled && *segment == "data")) return std::nullopt;
    if (segments++ > 0) path += '/';
    path += *segment;
  }
  // The tree itself is no file.
  if (segments < 2 || !utf8::valid(path)) return std::nullopt;
  return path;
}

}  // namespace subako::protocol
