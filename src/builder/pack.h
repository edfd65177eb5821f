// `subako pack`: a bundle becomes a reproducible archive (spec: B1-B4).
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "child/messages.pb.h"

namespace subako::builder {

// The last message for core: Packed or Refused.
[[nodiscard]] Result<child::FromBuilder> pack(Fd bundle, Fd out);

}  // namespace subako::builder
