// What `subako call` is given beside the bundle: arguments, a Volume, skills (spec: C10, F1).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "child/sandbox.h"
#include "core/call.h"
#include "core/scratch.h"

namespace subako::cli {

// The text itself, that of a file (@file) or of standard input (-), not yet checked. Over
// limits::kArgumentsTextBytes is kTooLarge.
[[nodiscard]] Result<std::string> read_arguments(const std::string& given);

// "NAME=DIR", opened. The name is 1-64 of a-z 0-9 _ -; a second of the same name is refused.
[[nodiscard]] Result<std::vector<core::SkillTree>> open_skills(const std::vector<std::string>& given);

// The trees of a call, and what they need to stay.
struct Volume {
  std::optional<core::ScratchFolder> temporary;  // where no folder was named
  core::Trees trees;                             // tmp and, where enabled, data
};
// `folder` is made where it is missing, with tmp/ and data/ in it, and kept. With `data` it may hold nothing else. The trees are as a
// worker is handed them.
[[nodiscard]] Result<Volume> open_volume(const std::optional<std::string>& folder, bool data,
                                         core::Scratch& scratch, child::Sandbox* sandbox);

}  // namespace subako::cli
