// What a package offers, read from the pages of tools/list (spec: U3). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/refusal.h"
#include "protocol/json.h"

namespace subako::protocol {

struct Tool {
  std::string name;
  std::optional<std::string> description;
  std::string input_schema;                  // compact JSON
  std::optional<std::string> output_schema;  // compact JSON
  // Kept as given, compact JSON each, where present and not null.
  std::optional<std::string> title;
  std::optional<std::string> annotations;
  std::optional<std::string> icons;
  std::optional<std::string> meta;
};

// The tool as one compact JSON object: name, title, description, inputSchema, outputSchema, annotations, icons, _meta.
[[nodiscard]] std::string tool_json(const Tool& tool);

// Takes page after page; finds every broken rule rather than the first.
class ToolList {
 public:
  // `result` is the object of a tools/list answer. Returns the nextCursor, where there is one.
  [[nodiscard]] std::optional<std::string> add_page(const json::Value& result);
  // After the last page: the rules over all tools (1-64, 256 KiB together).
  void finish();

  [[nodiscard]] const std::vector<Tool>& tools() const { return tools_; }
  [[nodiscard]] const Refusals& refusals() const { return refusals_; }
  [[nodiscard]] const Warnings& warnings() const { return warnings_; }

 private:
  struct Check;

  void add_tool(const json::Value& tool);
  void refuse(Refusal refusal);
  void warn(Warning warning);

  std::vector<Tool> tools_;
  Refusals refusals_;
  Warnings warnings_;
  // What a guest can make without end is counted instead: refusals and warnings past kReportedRefusals.
  uint64_t more_refusals_ = 0;
  uint64_t more_warnings_ = 0;
  std::map<std::string, uint32_t> pages_of_names_;
  uint32_t pages_ = 0;
  uint32_t seen_ = 0;
  uint64_t compact_bytes_ = 0;
};

}  // namespace subako::protocol
