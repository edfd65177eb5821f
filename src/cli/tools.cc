// subako tools: what a bundle offers, as its clients will see it.
#include "base/quote.h"
#include "cli/commands.h"
#include "cli/intake.h"
#include "cli/tool_table.h"

namespace subako::cli {

namespace {

std::string as_json(const std::vector<protocol::Tool>& tools) {
  json::Writer out(json::Writer::Style::kIndented);
  out.begin_object().key("tools").begin_array();
  for (const protocol::Tool& tool : tools) out.raw(protocol::tool_json(tool));
  out.end_array().end_object();
  return std::move(out).text() + "\n";
}

// Descriptions in full: the table of `check` cuts them.
std::string as_text(const std::vector<protocol::Tool>& tools, bool colour) {
  std::string out;
  for (const protocol::Tool& tool : tools) {
    if (!out.empty()) out += "\n";
    out += coloured(one_line(tool.name), Colour::kBold, colour) + "\n";
    if (tool.description) out += "  " + one_line(*tool.description) + "\n";
    for (const ToolInput& input : inputs_of(tool)) {
      out += "  - " + one_line(input.name) + " (" + one_line(input.type) +
             (input.required ? ", required)" : ")");
      if (!input.description.empty()) out += ": " + one_line(input.description);
      out += "\n";
    }
  }
  return out;
}

}  // namespace

Exit tools(const ToolsOptions& options, const Terminal& terminal) {
  auto session = Session::open(terminal, options.no_cache ? Session::Cache::kNone : Session::Cache::kUsed,
                               options.sandbox);
  if (!session) return report(session.error());
  Progress progress(terminal.err);
  const auto intake = take_in(**session, options.bundle, progress);
  progress.clear();
  if (!intake) return report(intake.error());
  if (!intake->package && options.json) {
    json::Writer out(json::Writer::Style::kIndented);
    out.begin_object().key("tools").begin_array().end_array().key("refusals");
    write_refusals(out, intake->refusals, intake->stderr_tail);
    out.end_object();
    return write_out(std::move(out).text() + "\n", Exit::kRefused);
  }
  if (!intake->package) {
    write_err(refusal_text(*intake, terminal.colour));
    return Exit::kRefused;
  }
  const std::vector<protocol::Tool>& all = intake->package->tools;
  return write_out(options.json ? as_json(all) : as_text(all, terminal.out && terminal.colour),
                   Exit::kAnswered);
}

}  // namespace subako::cli
