// subako check: would this bundle be accepted, and what does it offer?
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/human.h"
#include "cli/intake.h"
#include "cli/tool_table.h"

namespace subako::cli {

namespace {

void write_package(json::Writer& out, const core::BuiltPackagePtr& built) {
  if (!built) {
    out.null();
    return;
  }
  out.begin_object();
  out.key("name").string(built->name).key("description");
  built->description ? out.string(*built->description) : out.null();
  out.key("module_bytes").uint64(built->module_bytes).key("compiled_bytes").uint64(built->compiled_bytes);
  out.key("asset_bytes").uint64(built->asset_bytes).key("asset_files").uint64(built->asset_files);
  out.end_object();
}

std::string as_json(const Intake& intake) {
  json::Writer out(json::Writer::Style::kIndented);
  out.begin_object();
  out.key("ok").boolean(intake.refusals.empty()).key("package");
  write_package(out, intake.built);
  out.key("cached").boolean(intake.built && intake.built->cached);
  out.key("tools").begin_array();
  if (intake.package) {
    for (const protocol::Tool& tool : intake.package->tools) out.raw(protocol::tool_json(tool));
  }
  out.end_array().key("warnings");
  write_warnings(out, intake.warnings);
  out.key("timings_ms").begin_object();
  if (intake.built) {
    write_build_times(out, *intake.built);
    write_run_times(out, intake.check);
  }
  out.end_object().key("refusals");
  write_refusals(out, intake.refusals, intake.stderr_tail);
  out.end_object();
  return std::move(out).text() + "\n";
}

std::string accepted_text(const Intake& intake, const Terminal& terminal) {
  const core::BuiltPackage& built = *intake.built;
  const bool colour = terminal.out && terminal.colour;
  std::string out =
      coloured("accepted", Colour::kGreen, colour) + " " + coloured(built.name, Colour::kBold, colour);
  if (built.description) out += ": " + cut(utf8::escape_for_people(*built.description), terminal.width);
  out += "\n\n" + tool_table(intake.package->tools, terminal.width) + "\n";
  out += "module " + human_bytes(built.module_bytes) + ", compiled " + human_bytes(built.compiled_bytes) +
         ", assets " + human_bytes(built.asset_bytes) + " in " + std::to_string(built.asset_files) +
         (built.asset_files == 1 ? " file\n" : " files\n");
  out += "unpacked in " + human_ms(built.times.unpack_ms) +
         (built.cached ? ", validated and compiled at an earlier time"
                       : ", validated in " + human_ms(built.times.validate_ms) + ", compiled in " +
                             human_ms(built.times.compile_ms)) +
         "; starts in " + human_ms(intake.check.instantiate_ms + intake.check.start_ms) + "\n";
  return out + warning_text(intake.warnings, colour);
}

}  // namespace

Exit check(const CheckOptions& options, const Terminal& terminal) {
  auto session = Session::open(terminal, options.no_cache ? Session::Cache::kNone : Session::Cache::kUsed,
                               options.sandbox);
  if (!session) return report(session.error());
  Progress progress(terminal.err);
  const auto intake = take_in(**session, options.bundle, progress);
  progress.clear();
  if (!intake) return report(intake.error());
  const Exit status = intake->refusals.empty() ? Exit::kAnswered : Exit::kRefused;
  if (options.json) return write_out(as_json(*intake), status);
  if (status == Exit::kAnswered) return write_out(accepted_text(*intake, terminal), status);
  write_err(refusal_text(*intake, terminal.colour) + warning_text(intake->warnings, terminal.colour));
  return status;
}

}  // namespace subako::cli
