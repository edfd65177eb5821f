// The process that does one job with a stranger's bytes and ends (spec: B, M, R5; design: it may crash): unpack a bundle, check and
// compile a module, pack a bundle, or decode a picture. Its limits of CPU time, memory and wall time are core's to set.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "child/tier.h"

namespace subako::builder {

// Takes one job from `socket`, does it, tells how it went. In Tier::kLandlock it first confines this thread to the job's trees. An Error:
// core is gone or speaks another language.
[[nodiscard]] Result<void> serve_one_job(Fd socket, child::Tier tier = child::Tier::kNone);

}  // namespace subako::builder
