// What a path inside a bundle may be, and what lies there (spec: B1, B3). Pure: bytes of the archive in, a
// verdict out.
//
// Leading "./", doubled slashes and "." segments go; what is left is relative, UTF-8, free of "..", and
// within the length bounds, so that two spellings of one path are one path.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/refusal.h"

namespace subako::bundle {

inline constexpr std::string_view kManifestPath = "subako-package.json";
inline constexpr std::string_view kModulePath = "module.wasm";
inline constexpr std::string_view kAssetsPath = "assets";

enum class Place {
  kManifest,
  kModule,
  kAsset,      // a file below assets/
  kFolder,     // the root, assets or a folder below it
  kJunk,       // left behind by macOS: .DS_Store, ._*, __MACOSX/
  kElsewhere,  // where a bundle has no files
};

struct Placed {
  Place place = Place::kElsewhere;
  std::string path;  // normalised: "assets/a/b"; empty for the root
};

enum class PathOf { kFile, kFolder };

[[nodiscard]] std::expected<Placed, Refusal> place(std::string_view raw, PathOf what);

}  // namespace subako::bundle
