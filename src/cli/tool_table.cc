#include "cli/tool_table.h"

#include <algorithm>

#include "base/utf8.h"
#include "cli/human.h"
#include "protocol/json.h"

namespace subako::cli {

namespace {

std::string text_of(const json::Value& object, std::string_view name) {
  const auto member = json::find(object, name);
  return member && member->is(json::Kind::kString) ? json::decode_string(*member) : "";
}

std::string type_of(const json::Value& schema) {
  const auto type = json::find(schema, "type");
  if (type && type->is(json::Kind::kString)) return json::decode_string(*type);
  std::string all;
  if (type && type->is(json::Kind::kArray)) {
    json::for_each_element(*type, [&](const json::Value& one) {
      if (one.is(json::Kind::kString)) all += (all.empty() ? "" : "|") + json::decode_string(one);
      return true;
    });
  }
  if (all.empty() && json::find(schema, "enum")) return "enum";
  return all.empty() ? "any" : all;
}

std::vector<std::string> required_of(const json::Value& schema) {
  std::vector<std::string> names;
  const auto required = json::find(schema, "required");
  if (!required || !required->is(json::Kind::kArray)) return names;
  json::for_each_element(*required, [&](const json::Value& name) {
    if (name.is(json::Kind::kString)) names.push_back(json::decode_string(name));
    return true;
  });
  return names;
}

std::string shown(std::string_view text, size_t most) {
  return cut(utf8::escape_for_people(text), most);
}

}  // namespace

std::vector<ToolInput> inputs_of(const protocol::Tool& tool) {
  std::vector<ToolInput> inputs;
  const auto schema = json::parse(tool.input_schema);
  if (!schema) return inputs;
  const auto properties = json::find(*schema, "properties");
  if (!properties || !properties->is(json::Kind::kObject)) return inputs;
  const std::vector<std::string> required = required_of(*schema);
  json::for_each_member(*properties, [&](const std::string& name, const json::Value& property) {
    inputs.push_back({name, type_of(property), std::ranges::find(required, name) != required.end(),
                      text_of(property, "description")});
    return true;
  });
  return inputs;
}

std::string tool_table(const std::vector<protocol::Tool>& tools, size_t width) {
  constexpr size_t kMostName = 32;
  std::vector<std::vector<std::string>> rows{{"TOOL", "INPUT", "TYPE", "REQUIRED", "DESCRIPTION"}};
  for (const protocol::Tool& tool : tools) {
    rows.push_back({shown(tool.name, 64), "", "", "", shown(tool.description.value_or(""), width)});
    for (const ToolInput& input : inputs_of(tool)) {
      rows.push_back({"", shown(input.name, kMostName), shown(input.type, kMostName),
                      input.required ? "yes" : "no", shown(input.description, width)});
    }
  }
  return table(rows, width);
}

}  // namespace subako::cli
