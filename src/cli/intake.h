// A bundle taken in: built and checked, or refused (spec: B, M, U); and how both are shown.
#pragma once

#include <optional>
#include <string>

#include "cli/session.h"
#include "protocol/json_writer.h"

namespace subako::cli {

struct Intake {
  core::BuiltPackagePtr built;                  // null where the bundle or the module was refused
  std::optional<core::CheckedPackage> package;  // none where refused
  Refusals refusals;                            // not empty exactly where refused
  Warnings warnings;
  std::string stderr_tail;  // U4, of a refused upload check
  core::Measures check;     // of the upload check
};

// A bundle that can't be opened is a refusal too (B1); an Error is ours, or a cancel.
[[nodiscard]] Result<Intake> take_in(Session& session, const std::string& path, Progress& progress);

// For people: every reason with its rule, place and what to do; then the stderr tail.
[[nodiscard]] std::string refusal_text(const Intake& intake, bool colour);
[[nodiscard]] std::string warning_text(const Warnings& warnings, bool colour);

// The values of `refusals`, `warnings` and the parts of `timings_ms` that an intake has. Each refusal's
// message ends with the stderr tail, where there is one (U4).
void write_refusals(json::Writer& out, const Refusals& refusals, std::string_view stderr_tail);
void write_warnings(json::Writer& out, const Warnings& warnings);
void write_build_times(json::Writer& out, const core::BuiltPackage& built);
void write_run_times(json::Writer& out, const core::Measures& measures);

}  // namespace subako::cli
