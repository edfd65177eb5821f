// subako pack: a folder as a .tar.gz whose bytes depend on nothing but its files.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/quote.h"
#include "cli/commands.h"
#include "cli/human.h"
#include "cli/intake.h"

namespace subako::cli {

namespace {

// A file beside `path` that takes its place when it is complete, and otherwise leaves nothing behind.
class FileAside {
 public:
  explicit FileAside(std::string path) : path_(std::move(path)), aside_(path_ + ".XXXXXX") {
    file_ = Fd(mkostemp(aside_.data(), O_CLOEXEC));
    error_ = file_.valid() ? 0 : errno;
  }
  FileAside(const FileAside&) = delete;
  FileAside& operator=(const FileAside&) = delete;
  ~FileAside() {
    if (file_.valid()) (void)unlink(aside_.c_str());
  }

  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] Fd duplicate() const { return Fd(fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)); }
  [[nodiscard]] Result<void> put_in_place() {
    const mode_t mask = umask(0);
    (void)umask(mask);
    if (fchmod(file_.get(), 0666 & ~mask) != 0 || fsync(file_.get()) != 0 ||
        rename(aside_.c_str(), path_.c_str()) != 0) {
      return std::unexpected(system_error("writing " + path_, errno));
    }
    file_.reset();
    return {};
  }

 private:
  std::string path_;
  std::string aside_;
  Fd file_;
  int error_ = 0;
};

// The file that -o names, links resolved. Only a regular file is replaced, and none is made where it would be packed itself.
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
  auto session = Session::open(terminal, Session::Cache::kNone);
  if (!session) return report(session.error());
  FileAside file(*target);
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
