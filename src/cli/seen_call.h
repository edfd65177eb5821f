// What people see of a call: its blocks in order, pictures saved as files and drawn on the terminal (spec:
// R2-R4).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "cli/commands.h"
#include "cli/inline_pictures.h"
#include "cli/session.h"
#include "core/picture.h"

namespace subako::cli {

struct PictureOptions {
  std::optional<std::string> folder;        // save them there
  std::optional<InlinePictures> inline_as;  // none: as the terminal has it
  bool draw = true;                         // false: nobody looks at text
};
// Of what the command line says; wrong words are kInvalid.
[[nodiscard]] Result<PictureOptions> picture_options(const CallOptions& options);

struct PictureFolder {
  std::string name;  // as the user wrote it
  Fd opened;
};
// Made where it is missing, and opened; none where none is wanted. Before the call, so that a call isn't made
// whose pictures can't be saved, and once: it may lie in the Volume, where a guest can put a link in its
// place.
[[nodiscard]] Result<std::optional<PictureFolder>> open_picture_folder(const PictureOptions& options);

struct SeenLine {
  core::SeenBlock seen;
  std::string file;                         // where the picture was saved; empty: it wasn't
  std::optional<core::ShownPicture> drawn;  // the picture as the terminal takes it, where it is to be drawn
};
struct SeenCall {
  std::vector<SeenLine> lines;
  InlinePictures how = InlinePictures::kNever;  // they are drawn
  std::optional<Error> not_saved;  // the first picture that couldn't be saved; none was tried after it
};
// `trees` are the call's. kCancelled where a signal came.
[[nodiscard]] Result<SeenCall> see_call(Session& session, const core::CallRecord& record,
                                        const core::Trees& trees, const PictureOptions& options,
                                        const std::optional<PictureFolder>& folder, const Terminal& terminal,
                                        Progress& progress);
// The escape sequences that draw a line's picture: made when they are written, as a result's pictures have
// 200 MiB.
[[nodiscard]] Result<std::string> drawing_of(const SeenLine& line, InlinePictures how,
                                             const Terminal& terminal);

}  // namespace subako::cli
