// Refusals and warnings as messages of messages.proto, as both kinds of child send them.
#pragma once

#include "base/refusal.h"
#include "child/messages.pb.h"

namespace subako::child {

[[nodiscard]] Refusal to_wire(const subako::Refusal& refusal);
[[nodiscard]] Warning to_wire(const subako::Warning& warning);

}  // namespace subako::child
