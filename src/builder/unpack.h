// A bundle becomes a module, a folder of assets and what its manifest says (spec: B).
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "builder/progress.h"
#include "child/messages.pb.h"

namespace subako::builder {

struct UnpackFiles {
  Fd bundle;  // a directory, or a file holding an archive
  Fd assets;  // an empty directory for them
  Fd module;  // an empty file for it
};

// The last message for core: Unpacked or Refused. An Error is our own failure.
[[nodiscard]] Result<child::FromBuilder> unpack(UnpackFiles files, bool directory, const Report& report);

}  // namespace subako::builder
