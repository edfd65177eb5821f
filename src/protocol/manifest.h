// subako-package.json (spec: B2). Pure.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/refusal.h"

namespace subako::protocol {

struct Manifest {
  std::string name;
  std::optional<std::string> description;
};

struct ReadManifest {
  Manifest manifest;
  Warnings warnings;
};

// Every broken rule is reported. A manifest with `functions` and no `abi` is SDK 0.2.0's and refused saying so.
[[nodiscard]] std::expected<ReadManifest, Refusals> read_manifest(std::string_view text);

}  // namespace subako::protocol
