// subako pack: a folder as a .tar.gz whose bytes depend on nothing but its files.
#include <fcntl.h>

#include <cerrno>
#include <filesystem>

#include "base/quote.h"
#include "cli/commands.h"
#include "cli/file_aside.h"
#include "cli/human.h"
#include "cli/intake.h"

namespace subako::cli {

namespace {

// The file that -o names, links resolved. Only a regular file is replaced, and none is made where it would be
// packed itself.
Result<std::string> target_of(const PackOptions& options) {
  const std::string shown = one_line(options.out);
  std::error_code ignored;
  const auto status = std::filesystem::status(options.out, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return fail(Code::kInvalid, shown + " is there and no regular file; name another one with -o");
  }
  const auto target = std::filesystem::weakly_canonical(options.out, ignored);
  const auto source = std::filesystem::weakly_canonical(options.bundle, ignored);
  if (std::filesystem::is_directory(source, ignored) && target.native().starts_with(source.native() + "/")) {
    return fail(Code::kInvalid, shown + " lies in the folder that is packed; name a file elsewhere with -o");
  }
  return target.empty() ? options.out : target.string();
}

}  // namespace

Exit pack(const PackOptions& options, const Terminal& terminal) {
  auto source = core::open_bundle(options.bundle);
  if (!source) return report(source.error());
  const auto target = target_of(options);
  if (!target) return report(target.error());
  auto session = Session::open(terminal, Session::Cache::kNone, options.sandbox);
  if (!session) return report(session.error());
  FileAside file(AT_FDCWD, *target, *target);
  if (file.error() != 0) return report(system_error("writing " + one_line(options.out), file.error()));
  Fd duplicate = file.duplicate();
  if (!duplicate.valid()) return report(system_error("writing " + one_line(options.out), errno));
  const auto result = (*session)->pack(*std::move(source), std::move(duplicate));
  if (!result) return report(result.error());
  if (const auto* refused = std::get_if<core::Refused>(&*result)) {
    Intake intake;
    intake.refusals = refused->refusals;
    write_err(refusal_text(intake, terminal.colour) + warning_text(refused->warnings, terminal.colour));
    return Exit::kRefused;
  }
  if (auto placed = file.put_in_place(); !placed) return report(placed.error());
  const auto& packed = std::get<core::Packed>(*result);
  write_err(warning_text(packed.warnings, terminal.colour));
  return write_out("wrote " + one_line(options.out) + ": " + human_bytes(packed.bytes) + ", " +
                       std::to_string(packed.files) + (packed.files == 1 ? " file\n" : " files\n"),
                   Exit::kAnswered);
}

}  // namespace subako::cli
