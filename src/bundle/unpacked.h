// What reading a bundle gives (spec: B1-B3). Plain data.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "base/refusal.h"
#include "protocol/manifest.h"

namespace subako::bundle {

struct Unpacked {
  protocol::Manifest manifest;
  std::string manifest_text;  // the bytes of subako-package.json
  uint64_t module_bytes = 0;  // of module.wasm; not looked at
  uint64_t asset_bytes = 0;
  uint32_t asset_files = 0;
};

struct Unpacking {
  std::expected<Unpacked, Refusals> bundle;  // the refusals are never empty
  Warnings warnings;
};

}  // namespace subako::bundle
