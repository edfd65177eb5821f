// A guest's stderr as it goes to ours: raw, or made safe for a terminal, with a mark where some was left out.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace subako::cli {

class StderrText {
 public:
  explicit StderrText(bool escape) : escape_(escape) {}

  // What to write for the next piece, which comes after a gap of `left_out` bytes. A character that is cut
  // across pieces is held back until it is whole.
  [[nodiscard]] std::string add(uint64_t left_out, std::string_view piece);
  // The rest, with a line end where the last line has none and something of ours may follow it.
  [[nodiscard]] std::string finish();

 private:
  std::string escaped(std::string_view piece);

  bool escape_;
  bool at_line_start_ = true;
  std::string held_;  // the beginning of a character
};

}  // namespace subako::cli
