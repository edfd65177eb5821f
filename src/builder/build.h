// A bundle becomes a compiled module and a folder of assets (spec: B, M).
#pragma once

#include <functional>

#include "base/fd.h"
#include "base/result.h"
#include "child/messages.pb.h"

namespace subako::builder {

struct BuildFiles {
  Fd bundle;           // a directory, or a file holding an archive
  Fd assets;           // an empty directory for them
  Fd compiled_module;  // an empty file for it
};

// Sends a message to core before the last one.
using Report = std::function<Result<void>(const child::FromBuilder&)>;

// The last message for core: Built or Refused. An Error is our own failure.
[[nodiscard]] Result<child::FromBuilder> build(BuildFiles files, bool directory, const Report& report);

}  // namespace subako::builder
