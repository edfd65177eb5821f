#include "cli/seen_call.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/quote.h"
#include "cli/file_aside.h"
#include "core/render.h"

namespace subako::cli {

namespace {

Result<void> write_picture(int folder, const std::string& name, const std::string& shown,
                           std::string_view bytes) {
  FileAside file(folder, name, shown);
  if (file.error() != 0) return std::unexpected(system_error("writing " + one_line(shown), file.error()));
  while (!bytes.empty()) {
    const ssize_t n = write(file.fd(), bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) return std::unexpected(system_error("writing " + one_line(shown), errno));
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
  }
  return file.put_in_place();
}

// 1.png, 2.jpg, ... by the place among the pictures that are shown.
Result<void> save(Session& session, const PictureFolder& folder, SeenCall& call) {
  size_t number = 0;
  for (SeenLine& line : call.lines) {
    if (!line.seen.picture) continue;
    if (session.cancelled()) return fail(Code::kCancelled, "cancelled");
    const core::ShownPicture& picture = *line.seen.picture;
    const std::string name =
        std::to_string(++number) + "." + std::string(protocol::picture_extension(picture.format));
    const std::string path = folder.name + (folder.name.ends_with('/') ? "" : "/") + name;
    TRY(const std::string bytes, core::bytes_of(picture));
    if (auto written = write_picture(folder.opened.get(), name, path, bytes); !written) {
      call.not_saved = std::move(written).error();
      break;
    }
    line.file = path;
  }
  return {};
}

InlinePictures protocol_of(const PictureOptions& options, const Terminal& terminal) {
  if (options.inline_as) return *options.inline_as;
  if (!terminal.out) return InlinePictures::kNever;
  const auto told = inline_pictures_by_environment(environment);
  return told ? *told : ask_terminal();
}

TerminalSize size_of(const Terminal& terminal) {
  return {static_cast<uint32_t>(terminal.width), terminal.width_pixels};
}

// A picture that can't be drawn is told of; its line is there all the same.
Result<void> prepare_drawing(Session& session, SeenLine& line, InlinePictures how, TerminalSize size,
                             Progress& progress) {
  core::ShownPicture& picture = *line.seen.picture;
  const auto wish = wish_for(how, picture, size);
  if (!wish) {
    line.drawn = std::move(picture);
    line.seen.picture.reset();
    return {};
  }
  auto made = session.redraw(picture, *wish, progress);
  if (made) {
    line.drawn = *std::move(made);
  } else if (made.error().code == Code::kCancelled) {
    return std::unexpected(std::move(made).error());
  } else {
    progress.clear();
    say_error(made.error().message);
  }
  return {};
}

}  // namespace

Result<PictureOptions> picture_options(const CallOptions& options) {
  PictureOptions out;
  out.folder = options.images;
  out.draw = !options.json;
  if (out.folder && out.folder->empty()) return fail(Code::kInvalid, "--images needs the name of a folder");
  if (options.show_images == "auto") return out;
  out.inline_as = inline_pictures_by_name(options.show_images);
  if (!out.inline_as) {
    return fail(Code::kInvalid, "--show-images takes auto, kitty, iterm2, sixel or never, not " +
                                    in_quotes(options.show_images));
  }
  return out;
}

Result<std::optional<PictureFolder>> open_picture_folder(const PictureOptions& options) {
  if (!options.folder) return std::nullopt;
  const std::string shown = one_line(*options.folder);
  if (mkdir(options.folder->c_str(), 0777) != 0 && errno != EEXIST)
    return std::unexpected(system_error("making the folder for pictures, " + shown, errno));
  Fd folder(open(options.folder->c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid())
    return std::unexpected(system_error("opening the folder for pictures, " + shown, errno));
  if (faccessat(folder.get(), ".", W_OK | X_OK, AT_EACCESS) != 0)
    return std::unexpected(system_error("writing to the folder for pictures, " + shown, errno));
  return PictureFolder{*options.folder, std::move(folder)};
}

Result<SeenCall> see_call(Session& session, const core::CallRecord& record, const core::Trees& trees,
                          const PictureOptions& options, const std::optional<PictureFolder>& folder,
                          const Terminal& terminal, Progress& progress) {
  SeenCall call;
  if (!std::holds_alternative<protocol::Answered>(record.outcome)) {
    for (protocol::ViewBlock& block : core::view_of(record))
      call.lines.push_back({{std::move(block), {}}, {}, {}});
    return call;
  }
  TRY(std::vector<core::SeenBlock> blocks, session.see(record, trees, progress));
  bool any = false;
  for (core::SeenBlock& seen : blocks) {
    any = any || seen.picture.has_value();
    call.lines.push_back({std::move(seen), {}, {}});
  }
  if (!any) return call;
  if (folder) TRY_VOID(save(session, *folder, call));
  call.how = options.draw ? protocol_of(options, terminal) : InlinePictures::kNever;
  // A signal waits while the terminal is asked.
  if (session.cancelled()) return fail(Code::kCancelled, "cancelled");
  if (call.how == InlinePictures::kNever) return call;
  for (SeenLine& line : call.lines) {
    if (line.seen.picture) TRY_VOID(prepare_drawing(session, line, call.how, size_of(terminal), progress));
  }
  return call;
}

Result<std::string> drawing_of(const SeenLine& line, InlinePictures how, const Terminal& terminal) {
  TRY(const std::string bytes, core::bytes_of(*line.drawn));
  return drawing(how, *line.drawn, bytes, size_of(terminal));
}

}  // namespace subako::cli
