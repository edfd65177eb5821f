// What a file is by its first bytes (spec: B1): which reader to use, and what to tell the author of another
// file. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/refusal.h"

namespace subako::bundle {

enum class Format { kGzip, kZip, kTar, kOther };

// `head`: the first 512 bytes, fewer where the file is shorter.
[[nodiscard]] Format format_of(std::string_view head);

// For kOther. `holder` begins the sentence: "the file", "the gzip file's content".
[[nodiscard]] Refusal not_an_archive(std::string_view head, std::string_view holder);

}  // namespace subako::bundle
