// A CallToolResult (spec: R1) and what the model gets of it, block by block (R2, R3). Pure: pictures are named here and read
// elsewhere.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/json.h"

namespace subako::protocol {

struct CallResult {
  bool is_error = false;
  std::optional<std::string> structured_content;  // JSON as the guest spelt it
  std::vector<std::string> content;               // each block's JSON as the guest spelt it
};

// `result` is the object of an answer. The error completes "answered with no CallToolResult: " (C9, bad_result): content is
// no array, isError is no boolean, neither content nor structuredContent is there.
[[nodiscard]] std::expected<CallResult, std::string> read_call_result(const json::Value& result);
// The same without a copy, for who passes the result on.
[[nodiscard]] std::expected<void, std::string> check_call_result(const json::Value& result);

// One block of what the model gets, in order.
struct ViewBlock {
  enum class Kind : uint8_t {
    kText,        // the guest's own text
    kPicture,     // a picture to be shown: inline `base64` or a `path` in the Volume
    kLink,        // one line naming a link
    kNote,        // our note: something was left out, or is broken
  };
  Kind kind = Kind::kText;
  // kText, kLink, kNote: what the model reads; kPicture: the line that stands for one that wasn't looked at.
  std::string text = {};
  std::optional<std::string> base64 = {};  // kPicture from an `image` block, as given
  // Of a volume:/// link: "tmp/a/b.png", decoded, checked by R3. A kPicture was meant as one; a kLink may be one,
  // by its bytes (R4).
  std::optional<std::string> path = {};
  // With base64 or path: what a sentence calls it, on one line: "plot.png (volume:///tmp/plot.png)".
  std::string what = {};
};
[[nodiscard]] std::string_view view_kind_name(ViewBlock::Kind kind);  // text, picture, link, note

// `data_enabled`: does the agent version mount /volume/data.
[[nodiscard]] std::vector<ViewBlock> view_of(const CallResult& result, bool data_enabled);

// `volume:///a%20b/c.png` to "a b/c.png"; none where R3 makes it the one line.
[[nodiscard]] std::optional<std::string> volume_path(std::string_view uri, bool data_enabled);

}  // namespace subako::protocol
