// subako doctor: can guests run on this machine, and how well are they kept in?
#include <algorithm>

#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/human.h"
#include "cli/machine.h"
#include "protocol/json_writer.h"

namespace subako::cli {

namespace {

std::string_view state_name(Finding::State state) {
  switch (state) {
    case Finding::State::kOk:
      return "ok";
    case Finding::State::kWarn:
      return "warn";
    case Finding::State::kMissing:
      return "missing";
  }
  return "";
}

Colour state_colour(Finding::State state) {
  if (state == Finding::State::kOk) return Colour::kGreen;
  return state == Finding::State::kWarn ? Colour::kYellow : Colour::kRed;
}

std::string as_json(const std::vector<Finding>& findings, bool able) {
  json::Writer out(json::Writer::Style::kIndented);
  out.begin_object().key("ok").boolean(able).key("findings").begin_array();
  for (const Finding& finding : findings) {
    out.begin_object().key("name").string(finding.name).key("state").string(state_name(finding.state));
    out.key("found").string(finding.found).key("meaning").string(finding.meaning).end_object();
  }
  out.end_array().end_object();
  return std::move(out).text() + "\n";
}

std::string as_text(const std::vector<Finding>& findings, bool able, bool colour) {
  std::string out;
  for (const Finding& finding : findings) {
    const std::string state(state_name(finding.state));
    out += coloured(state, state_colour(finding.state), colour) + std::string(9 - state.size(), ' ') +
           finding.name + std::string(18 - columns(finding.name), ' ') +
           utf8::escape_for_people(finding.found) + "\n";
    if (!finding.meaning.empty())
      out += std::string(27, ' ') + utf8::escape_for_people(finding.meaning) + "\n";
  }
  return out + (able ? "guests can run on this machine\n"
                     : "guests can't run on this machine: see what is missing\n");
}

}  // namespace

Exit doctor(const DoctorOptions& options, const Terminal& terminal) {
  const std::vector<Finding> findings = examine_machine(options.sandbox);
  const bool able =
      std::ranges::none_of(findings, [](const Finding& f) { return f.state == Finding::State::kMissing; });
  const std::string text =
      options.json ? as_json(findings, able) : as_text(findings, able, terminal.out && terminal.colour);
  return write_out(text, able ? Exit::kAnswered : Exit::kFault);
}

}  // namespace subako::cli
