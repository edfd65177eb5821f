// A refusal as the last message for core.
#pragma once

#include "base/refusal.h"
#include "child/messages.pb.h"

namespace subako::builder {

[[nodiscard]] child::FromBuilder refused(const Refusals& refusals, const Warnings& warnings);

}  // namespace subako::builder
