#include "protocol/tool_list.h"

#include <algorithm>

#include "base/limits.h"
#include "base/utf8.h"
#include "protocol/json_writer.h"
#include "protocol/names.h"
#include "base/quote.h"
#include "protocol/schema.h"

namespace subako::protocol {

namespace {

using json::Kind;
using json::Value;

constexpr const char* kRule = "U3";

std::string bytes_of(size_t found, uint64_t most) {
  return "is " + grouped(found) + " bytes of compact JSON and may be at most " + grouped(most);
}

}  // namespace

// One tool under its rules: what is wrong goes to the list, what is right into `tool`.
struct ToolList::Check {
  ToolList& list;
  const Value& json;
  std::string where;
  Tool tool = {};
  bool sound = true;

  void refuse(std::string message, std::string hint) {
    sound = false;
    list.refuse({.rule = kRule, .where = where, .message = std::move(message), .hint = std::move(hint)});
  }

  void name() {
    const auto value = json::find(json, "name");
    constexpr const char* kHint = "name every tool with 1 to 64 of a-z, 0-9, _ and -";
    if (!value) return refuse("the tool has no name", kHint);
    if (!value->is(Kind::kString))
      return refuse("the name is no string but " + shortened(value->raw()), kHint);
    tool.name = json::decode_string(*value);
    if (const auto wrong = name_fault(tool.name))
      return refuse("the name " + in_quotes(tool.name) + " " + *wrong, kHint);
    where = "tool \"" + tool.name + "\", page " + std::to_string(list.pages_);
    const auto [first, fresh] = list.pages_of_names_.try_emplace(tool.name, list.pages_);
    if (!fresh) {
      refuse("another tool is called \"" + tool.name + "\" already, on page " + std::to_string(first->second),
             "names must be unique over all pages");
    }
  }

  void description() {
    const auto value = json::find_non_null(json, "description");
    if (!value) return;
    if (!value->is(Kind::kString)) {
      return refuse("the description is no string but " + shortened(value->raw()),
                    "give a string, or leave it out");
    }
    tool.description = json::decode_string(*value);
    if (const size_t characters = utf8::count(*tool.description); characters > limits::kDescriptionChars) {
      refuse("the description is " + grouped(characters) + " characters long and may have at most " +
                 grouped(limits::kDescriptionChars),
             "shorten it; details fit into the descriptions within the schema");
    }
  }

  // A schema's size and keywords. One that is too large isn't looked into: the cost would be the guest's to
  // choose.
  void schema(const char* member, const Value& value) {
    if (const size_t size = json::compact_size(value); size > limits::kSchemaBytes) {
      return refuse("the " + std::string(member) + " " + bytes_of(size, limits::kSchemaBytes),
                    "make the schema smaller");
    }
    check_schema(value, [&](const SchemaFault& fault) {
      const std::string message =
          std::string(member) + (fault.where.empty() ? "" : " at ") + fault.where + ": " + fault.message;
      if (fault.kind == SchemaFault::Kind::kRemoteReference) {
        list.warn({.rule = kRule, .where = where, .message = message});
      } else {
        refuse(message, "mend the schema: its keywords are read as JSON Schema draft 2020-12 has them");
      }
    });
  }

  void input_schema() {
    constexpr const char* kHint = "give at least \"inputSchema\":{\"type\":\"object\"}";
    const auto value = json::find(json, "inputSchema");
    if (!value) return refuse("the tool has no inputSchema", kHint);
    if (!value->is(Kind::kObject))
      return refuse("the inputSchema is no object but " + shortened(value->raw()), kHint);
    const auto type = json::find(*value, "type");
    if (!type) {
      refuse("the top level of the inputSchema has no \"type\":\"object\"", kHint);
    } else if (!type->is(Kind::kString) || json::decode_string(*type) != "object") {
      refuse("the \"type\" at the top level of the inputSchema must be \"object\", but is " +
                 shortened(type->raw()),
             kHint);
    }
    schema("inputSchema", *value);
    tool.input_schema = json::compact(*value);
  }

  void output_schema() {
    const auto value = json::find_non_null(json, "outputSchema");
    if (!value) return;
    schema("outputSchema", *value);
    tool.output_schema = json::compact(*value);
  }

  void others() {
    const auto kept = [&](std::string_view member) -> std::optional<std::string> {
      const auto value = json::find_non_null(json, member);
      return value ? std::optional(json::compact(*value)) : std::nullopt;
    };
    tool.title = kept("title");
    tool.annotations = kept("annotations");
    tool.icons = kept("icons");
    tool.meta = kept("_meta");
  }
};

void ToolList::refuse(Refusal refusal) {
  if (refusals_.size() < limits::kReportedRefusals) {
    refusals_.push_back(std::move(refusal));
  } else {
    ++more_refusals_;
  }
}

void ToolList::warn(Warning warning) {
  if (warnings_.size() < limits::kReportedRefusals) {
    warnings_.push_back(std::move(warning));
  } else {
    ++more_warnings_;
  }
}

void ToolList::add_tool(const Value& tool) {
  ++seen_;
  compact_bytes_ += json::compact_size(tool);
  // The list is refused for their number; what else is wrong with the surplus is of no use to anyone.
  if (seen_ > limits::kTools) return;
  Check check{*this, tool, "tool " + std::to_string(seen_) + ", page " + std::to_string(pages_)};
  if (!tool.is(Kind::kObject)) return check.refuse("the tool is no object but " + shortened(tool.raw()), {});
  check.name();
  check.description();
  check.input_schema();
  check.output_schema();
  check.others();
  if (check.sound) tools_.push_back(std::move(check.tool));
}

std::optional<std::string> ToolList::add_page(const Value& result) {
  ++pages_;
  const std::string page = "page " + std::to_string(pages_);
  const auto tools = json::find(result, "tools");
  if (!tools || !tools->is(Kind::kArray)) {
    refuse({.rule = kRule,
            .where = page,
            .message = tools ? "\"tools\" is no array but " + shortened(tools->raw())
                             : "the answer has no \"tools\"",
            .hint = "answer tools/list with \"tools\":[...]"});
  } else {
    json::for_each_element(*tools, [&](const Value& tool) {
      add_tool(tool);
      return true;
    });
  }
  const auto cursor = json::find_non_null(result, "nextCursor");
  if (!cursor) return std::nullopt;
  if (cursor->is(Kind::kString)) return json::decode_string(*cursor);
  refuse({.rule = "U2",
          .where = page,
          .message = "nextCursor is no string but " + shortened(cursor->raw()),
          .hint = "give a string, or leave it out of the last page"});
  return std::nullopt;
}

void ToolList::finish() {
  // Put in front of what may have been cut off.
  const auto refuse_all = [&](std::string message, std::string hint) {
    refusals_.insert(
        refusals_.begin(),
        {.rule = kRule, .where = "all tools", .message = std::move(message), .hint = std::move(hint)});
  };
  if (compact_bytes_ > limits::kAllToolsBytes) {
    refuse_all("the list of tools " + bytes_of(compact_bytes_, limits::kAllToolsBytes),
               "shorten descriptions and schemas");
  }
  if (seen_ == 0) refuse_all("the package offers no tools", "Offer 1 to 64 tools.");
  if (seen_ > limits::kTools) {
    refuse_all("the package offers " + grouped(seen_) + " tools, which is more than " +
                   std::to_string(limits::kTools),
               "Offer 1 to 64 tools, and spread more over several packages.");
  }
  if (more_refusals_ > 0) {
    refusals_.push_back(
        {.rule = kRule, .where = {}, .message = "and " + grouped(more_refusals_) + " more", .hint = {}});
  }
  if (more_warnings_ > 0) {
    warnings_.push_back({.rule = kRule, .where = {}, .message = "and " + grouped(more_warnings_) + " more"});
  }
}

std::string tool_json(const Tool& tool) {
  json::Writer out;
  out.begin_object().key("name").string(tool.name);
  const auto raw = [&](std::string_view name, const std::optional<std::string>& json) {
    if (json) out.key(name).raw(*json);
  };
  raw("title", tool.title);
  if (tool.description) out.key("description").string(*tool.description);
  out.key("inputSchema").raw(tool.input_schema);
  raw("outputSchema", tool.output_schema);
  raw("annotations", tool.annotations);
  raw("icons", tool.icons);
  raw("_meta", tool.meta);
  return std::move(out.end_object()).text();
}

}  // namespace subako::protocol
