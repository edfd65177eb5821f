// The 512-byte header of a tar entry and the records of a pax header (spec: B1). Pure. Reads v7, ustar, GNU
// and pax.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace subako::bundle {

inline constexpr size_t kTarBlock = 512;
using TarBlock = std::array<char, kTarBlock>;

struct TarHeader {
  std::string path;
  char type = '0';
  uint64_t size = 0;
};

[[nodiscard]] bool is_zero(const TarBlock& block);
// Whether the block carries a right checksum, as every tar header does.
[[nodiscard]] bool has_tar_checksum(const TarBlock& block);
// The error is what is wrong, for "The archive is damaged (...)".
[[nodiscard]] std::expected<TarHeader, std::string> parse_tar_header(const TarBlock& block);

struct PaxRecords {
  std::optional<std::string> path;
  std::optional<uint64_t> size;
  bool sparse = false;
};
[[nodiscard]] std::expected<PaxRecords, std::string> parse_pax(std::string_view body);

}  // namespace subako::bundle
