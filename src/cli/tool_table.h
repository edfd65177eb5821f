// Tools and their inputs as people read them. Pure.
#pragma once

#include <string>
#include <vector>

#include "protocol/tool_list.h"

namespace subako::cli {

struct ToolInput {
  std::string name;
  std::string type;  // "string", "string|null", "any"
  bool required = false;
  std::string description;
};
// The properties of an input schema, in its order.
[[nodiscard]] std::vector<ToolInput> inputs_of(const protocol::Tool& tool);

// A row for each input, safe to look at.
[[nodiscard]] std::string tool_table(const std::vector<protocol::Tool>& tools, size_t width);

}  // namespace subako::cli
