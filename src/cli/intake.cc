#include "cli/intake.h"

#include "base/utf8.h"

namespace subako::cli {

namespace {

Result<Intake> checked(Session& session, core::BuiltPackagePtr built, Progress& progress) {
  Intake intake;
  intake.built = built;
  intake.warnings = built->warnings;
  TRY(core::UploadCheck check, session.upload_check(std::move(built), progress));
  intake.warnings.insert(intake.warnings.end(), check.warnings.begin(), check.warnings.end());
  intake.check = check.measures;
  if (auto* refused = std::get_if<core::Refused>(&check.verdict)) {
    intake.refusals = std::move(refused->refusals);
    intake.stderr_tail = std::move(refused->stderr_tail);
  } else {
    intake.package = std::get<core::CheckedPackage>(std::move(check.verdict));
  }
  return intake;
}

// Lines of others' text, safe to look at, each but the first set in by `indent`.
std::string set_in(std::string_view text, std::string_view indent) {
  std::string out;
  for (const char c : utf8::escape_for_people(text)) {
    out += c;
    if (c == '\n') out += indent;
  }
  return out;
}

}  // namespace

Result<Intake> take_in(Session& session, const std::string& path, Progress& progress) {
  auto source = core::open_bundle(path);
  if (!source) {
    if (exit_status(source.error().code) != Exit::kRefused) return std::unexpected(std::move(source).error());
    Intake intake;
    intake.refusals.push_back(
        {"B1", path, source.error().message, "name a folder, or a .tar.gz, .tgz, .tar or .zip file"});
    return intake;
  }
  TRY(auto result, session.build(*std::move(source), progress));
  if (auto* refused = std::get_if<core::Refused>(&result)) {
    Intake intake;
    intake.refusals = std::move(refused->refusals);
    intake.warnings = std::move(refused->warnings);
    return intake;
  }
  return checked(session, std::get<core::BuiltPackagePtr>(std::move(result)), progress);
}

std::string refusal_text(const Intake& intake, bool colour) {
  std::string out;
  for (const Refusal& refusal : intake.refusals) {
    out += coloured("refused", Colour::kRed, colour) + " [" + utf8::escape_for_people(refusal.rule) + "]";
    if (!refusal.where.empty()) out += " " + set_in(refusal.where, "");
    out += ": " + set_in(refusal.message, "  ") + "\n";
    if (!refusal.hint.empty()) out += "  what to do: " + set_in(refusal.hint, "  ") + "\n";
  }
  if (!intake.stderr_tail.empty())
    out += "its stderr ended with:\n  " + set_in(intake.stderr_tail, "  ") + "\n";
  return out;
}

std::string warning_text(const Warnings& warnings, bool colour) {
  std::string out;
  for (const Warning& warning : warnings) {
    out += coloured("warning", Colour::kYellow, colour) + " [" + utf8::escape_for_people(warning.rule) + "]";
    if (!warning.where.empty()) out += " " + set_in(warning.where, "");
    out += ": " + set_in(warning.message, "  ") + "\n";
  }
  return out;
}

void write_refusals(json::Writer& out, const Refusals& refusals, std::string_view stderr_tail) {
  out.begin_array();
  for (const Refusal& refusal : refusals) {
    std::string message = refusal.message;
    if (!stderr_tail.empty()) message += "\nIts stderr ended with:\n" + std::string(stderr_tail);
    out.begin_object();
    out.key("rule").string(refusal.rule).key("where").string(refusal.where);
    out.key("message").string(message).key("hint").string(refusal.hint);
    out.end_object();
  }
  out.end_array();
}

void write_warnings(json::Writer& out, const Warnings& warnings) {
  out.begin_array();
  for (const Warning& warning : warnings) {
    out.begin_object();
    out.key("rule")
        .string(warning.rule)
        .key("where")
        .string(warning.where)
        .key("message")
        .string(warning.message);
    out.end_object();
  }
  out.end_array();
}

void write_build_times(json::Writer& out, const core::BuiltPackage& built) {
  out.key("unpack").number(built.times.unpack_ms);
  out.key("lookup").number(built.times.lookup_ms);
  out.key("validate").number(built.times.validate_ms);
  out.key("compile").number(built.times.compile_ms);
}

void write_run_times(json::Writer& out, const core::Measures& measures) {
  out.key("queue").number(measures.queue_ms);
  out.key("load").number(measures.load_ms);
  out.key("instantiate").number(measures.instantiate_ms);
  out.key("start").number(measures.start_ms);
  out.key("run").number(measures.run_ms);
  out.key("exit").number(measures.exit_ms);
  out.key("total").number(measures.total_ms);
}

}  // namespace subako::cli
