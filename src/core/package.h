// A package on its way from a bundle to its tools (spec: B, M, U): a source, built, then checked. All
// immutable once made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/fd.h"
#include "base/refusal.h"
#include "base/result.h"
#include "core/scratch.h"
#include "protocol/tool_list.h"

namespace subako::core {

struct BundleSource {
  Fd file;  // a directory, or a file holding an archive
  bool directory = false;
};
// Opens what is at `path`; neither a file nor a directory is an Error.
[[nodiscard]] Result<BundleSource> open_bundle(const std::string& path);

struct BuildTimes {
  double unpack_ms = 0;
  double lookup_ms = 0;  // in the cache, and into a worker; 0 without a cache
  double validate_ms = 0;
  double compile_ms = 0;
};

struct BuiltPackage {
  std::string name;
  std::optional<std::string> description;
  uint64_t module_bytes = 0;
  uint64_t compiled_bytes = 0;
  uint64_t asset_bytes = 0;
  uint32_t asset_files = 0;
  BuildTimes times;
  bool cached = false;  // it was compiled by an earlier build
  Warnings warnings;
  Fd module;                            // the compiled module: a sealed memfd, or a file of the cache, for reading
  std::optional<ScratchFolder> assets;  // where the package has some
  Fd assets_tree;                       // those, as a worker is handed them
};
// Owned together by its caller and the calls that run.
using BuiltPackagePtr = std::shared_ptr<const BuiltPackage>;

struct CheckedPackage {
  BuiltPackagePtr built;
  std::vector<protocol::Tool> tools;  // C11: only these can be called

  [[nodiscard]] const protocol::Tool* find(std::string_view tool) const;
};

enum class BuildPhase : uint8_t { kUnpacking, kValidating, kCompiling };

struct Refused {
  Refusals refusals;  // not empty
  Warnings warnings;
  std::string stderr_tail;  // U4: the last 4 KiB of an upload check; valid UTF-8
};

struct Packed {
  uint64_t bytes = 0;
  uint32_t files = 0;
  Warnings warnings;
};

}  // namespace subako::core
