// A picture that a guest made becomes bytes fit to be shown (spec: R4, R5).
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "child/messages.pb.h"

namespace subako::builder {

// The last message for core: Pictured, with the bytes in `out`, an empty memfd; or Unshowable. `source` is
// read once, so that what is judged is what is shown, whoever writes to it meanwhile.
[[nodiscard]] Result<child::FromBuilder> picture(Fd source, Fd out, const child::Picture& wish);

}  // namespace subako::builder
