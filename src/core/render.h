// What the model reads of a call (spec: R2, C9). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/call.h"
#include "protocol/call_result.h"

namespace subako::core {

// Block by block, in order. A crash is one block of text, a cancelled call one note.
[[nodiscard]] std::vector<protocol::ViewBlock> view_of(const CallRecord& record);

// The last 4 KiB of stderr, begun at a character, invalid bytes replaced.
[[nodiscard]] std::string told_stderr(std::string_view stderr_kept);

// Did the tool say isError? False for what is no answer.
[[nodiscard]] bool is_error(const CallRecord& record);

}  // namespace subako::core
