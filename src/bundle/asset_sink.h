// Where the module and the assets of a bundle go while it is read. Paths are relative to assets/ ("a/b" for assets/a/b),
// normalised, never empty, each told once, folders before what lies in them. An Error ends the reading.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace subako::bundle {

class AssetSink {
 public:
  virtual ~AssetSink() = default;
  // The next piece of module.wasm.
  [[nodiscard]] virtual Result<void> module(std::string_view bytes) = 0;
  [[nodiscard]] virtual Result<void> folder(const std::string& path) = 0;
  // A file: opened, written in pieces, closed. One at a time.
  [[nodiscard]] virtual Result<void> open(const std::string& path) = 0;
  [[nodiscard]] virtual Result<void> write(std::string_view bytes) = 0;
  [[nodiscard]] virtual Result<void> close() = 0;
};

}  // namespace subako::bundle
