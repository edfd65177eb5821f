// What a package must answer to server/discover (spec: U2). Pure.
#pragma once

#include "base/refusal.h"
#include "protocol/json.h"

namespace subako::protocol {

// Every broken rule; none where the package speaks our revision and offers tools.
[[nodiscard]] Refusals check_discovery(const json::Value& result);

}  // namespace subako::protocol
