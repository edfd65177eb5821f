// A module becomes native code, or is refused (spec: M). What is written may be kept for everybody who has
// the same module: hence a process of its own, which sees nothing else.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "builder/progress.h"
#include "child/messages.pb.h"

namespace subako::builder {

// `module`: a sealed memfd; `out`: an empty file. The last message for core: Compiled or Refused. An Error is
// our own failure.
[[nodiscard]] Result<child::FromBuilder> compile(Fd module, Fd out, const Report& report);

}  // namespace subako::builder
