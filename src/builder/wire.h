// Refusals and warnings as messages of child/messages.proto.
#pragma once

#include "base/refusal.h"
#include "child/messages.pb.h"

namespace subako::builder {

[[nodiscard]] child::Warning to_wire(const Warning& warning);
[[nodiscard]] child::FromBuilder refused(const Refusals& refusals, const Warnings& warnings);

}  // namespace subako::builder
