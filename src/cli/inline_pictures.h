// How a terminal is sent a picture among its text: three protocols, which one it knows, and what is written.
// Pure, but for ask_terminal().
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/picture.h"

namespace subako::cli {

enum class InlinePictures : uint8_t { kNever, kKitty, kIterm2, kSixel };

// A word of --show-images but `auto`.
[[nodiscard]] std::optional<InlinePictures> inline_pictures_by_name(std::string_view word);

// What the environment's variables tell of the terminal; none: nothing, so it may be asked. Inside tmux,
// screen and their like it is kNever: what they pass on is unknown.
using Environment = std::function<std::string_view(const char* name)>;  // empty where unset
[[nodiscard]] std::optional<InlinePictures> inline_pictures_by_environment(const Environment& environment);

// Asks the terminal behind standard output whether it draws sixels (DA1), for kAnswerTime at most: kSixel or
// kNever. Only a terminal in whose foreground we are is asked. Its settings are put back before it returns,
// and signals wait until then; keys that are typed meanwhile are lost. An answer that comes later, as over a
// slow connection, is read by the shell as if it were typed: so the time is long. Only a terminal that never
// answers takes it all.
inline constexpr std::chrono::milliseconds kAnswerTime{1000};
[[nodiscard]] InlinePictures ask_terminal();
// Is this an answer to DA1 that names sixel (4)? Whatever else was typed may stand around it.
[[nodiscard]] bool answer_names_sixel(std::string_view answer);
[[nodiscard]] bool answer_is_whole(std::string_view answer);

struct TerminalSize {
  uint32_t columns = 0;
  uint32_t pixels = 0;  // across; 0: unknown
};

// As what a picture is to be sent, no wider than the terminal; none: as it is, and the terminal scales it.
[[nodiscard]] std::optional<core::PictureWish> wish_for(InlinePictures how, const core::ShownPicture& picture,
                                                        TerminalSize size);
// The escape sequences that draw it. `bytes` are the picture's, as wish_for() has it.
[[nodiscard]] std::string drawing(InlinePictures how, const core::ShownPicture& picture,
                                  std::string_view bytes, TerminalSize size);
// What ends a sequence that was cut off in the middle.
inline constexpr std::string_view kEndOfSequence = "\x1b\\";

}  // namespace subako::cli
