#include "cli/inline_pictures.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace subako::cli {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

std::optional<InlinePictures> by(const Variables& variables) {
  return inline_pictures_by_environment([&](const char* name) -> std::string_view {
    const auto found = variables.find(name);
    return found != variables.end() ? std::string_view(found->second) : std::string_view();
  });
}

TEST(InlinePictures, the_environment_tells_of_the_terminal) {
  using enum InlinePictures;
  const std::string xterm = "xterm-256color";
  for (const auto& [variables, expected] : std::vector<std::pair<Variables, std::optional<InlinePictures>>>{
           {{}, kNever},
           {{{"TERM", "dumb"}}, kNever},
           {{{"TERM", "linux"}}, kNever},
           {{{"TERM", xterm}}, std::nullopt},
           {{{"TERM", "xterm-kitty"}}, kKitty},
           {{{"TERM", xterm}, {"KITTY_WINDOW_ID", "1"}}, kKitty},
           {{{"TERM", xterm}, {"KITTY_WINDOW_ID", "1"}, {"TERM_PROGRAM", "vscode"}}, std::nullopt},
           {{{"TERM", "xterm-ghostty"}}, kKitty},
           {{{"TERM", xterm}, {"TERM_PROGRAM", "ghostty"}}, kKitty},
           {{{"TERM", xterm}, {"KONSOLE_VERSION", "220401"}}, kKitty},
           {{{"TERM", xterm}, {"KONSOLE_VERSION", "211203"}}, std::nullopt},
           {{{"TERM", xterm}, {"TERM_PROGRAM", "WezTerm"}}, kIterm2},
           {{{"TERM", xterm}, {"TERM_PROGRAM", "iTerm.app"}}, kIterm2},
           {{{"TERM", xterm}, {"TERM_PROGRAM", "mintty"}}, kIterm2},
           {{{"TERM", xterm}, {"LC_TERMINAL", "iTerm2"}}, kIterm2},
           {{{"TERM", "tmux-256color"}, {"LC_TERMINAL", "iTerm2"}}, kNever},
           {{{"TERM", "xterm-kitty"}, {"TMUX", "/tmp/tmux"}}, kNever},
           {{{"TERM", "screen"}}, kNever},
           {{{"TERM", "xterm-kitty"}, {"STY", "1.pts"}}, kNever},
           {{{"TERM", "xterm-kitty"}, {"ZELLIJ", "0"}}, kNever},
       }) {
    EXPECT_EQ(by(variables), expected) << (variables.empty() ? "" : variables.begin()->second);
  }
}

TEST(InlinePictures, an_answer_names_sixel_or_not) {
  for (const std::string_view yes :
       {"\x1b[?62;4;22c", "\x1b[?4c", "typed\x1b[?1;4cmore", "\x1b[?1\x1b[?64;1;4c"}) {
    EXPECT_TRUE(answer_is_whole(yes) && answer_names_sixel(yes)) << yes;
  }
  for (const std::string_view no : {"\x1b[?62;22c", "\x1b[?64;14;40c", "\x1b[?c"}) {
    EXPECT_TRUE(answer_is_whole(no)) << no;
    EXPECT_FALSE(answer_names_sixel(no)) << no;
  }
  for (const std::string_view none : {"", "4c", "\x1b[?62;4", "\x1b[4c", "\x1b[?4h"}) {
    EXPECT_FALSE(answer_is_whole(none) || answer_names_sixel(none)) << none;
  }
}

core::ShownPicture picture(protocol::PictureFormat format, uint32_t width, uint32_t height) {
  core::ShownPicture shown;
  shown.format = format;
  shown.width = width;
  shown.height = height;
  return shown;
}

TEST(InlinePictures, each_protocol_gets_what_it_shows) {
  using enum InlinePictures;
  using protocol::PictureFormat;
  using As = core::PictureWish::As;
  const TerminalSize size{.columns = 80, .pixels = 640};
  EXPECT_FALSE(wish_for(kKitty, picture(PictureFormat::kPng, 10, 10), size));
  EXPECT_EQ(wish_for(kKitty, picture(PictureFormat::kJpeg, 10, 10), size)->as, As::kPng);
  EXPECT_FALSE(wish_for(kIterm2, picture(PictureFormat::kGif, 10, 10), size));
  EXPECT_EQ(wish_for(kIterm2, picture(PictureFormat::kWebp, 10, 10), size)->as, As::kPng);
  for (const auto& [width, height, pixels, longest] : std::vector<std::array<uint32_t, 4>>{
           {100, 50, 640, 100},
           {1280, 640, 640, 640},
           {1280, 2000, 640, 1000},
           {2000, 1, 0, 800},
           {1, 2000, 640, 2000},
           {2000, 1000, 100'000, 2000},
           {2000, 1000, 1, 1},
       }) {
    const auto wish = wish_for(kSixel, picture(PictureFormat::kPng, width, height), {80, pixels});
    EXPECT_EQ(wish->as, As::kSixel);
    EXPECT_EQ(wish->longest_side, longest) << width << " × " << height;
    // A PNG of its making has no more pixels than the terminal shows.
    const auto png = wish_for(kKitty, picture(PictureFormat::kJpeg, width, height), {80, pixels});
    EXPECT_EQ(png->longest_side, longest) << width << " × " << height;
    EXPECT_EQ(wish_for(kIterm2, picture(PictureFormat::kWebp, width, height), {80, pixels})->longest_side,
              longest);
  }
}

TEST(InlinePictures, drawings_are_whole_sequences) {
  using enum InlinePictures;
  using protocol::PictureFormat;
  const auto small = picture(PictureFormat::kPng, 10, 10);
  const TerminalSize size{.columns = 80, .pixels = 640};
  EXPECT_EQ(drawing(kKitty, small, "ABC", size), "\x1b_Ga=T,f=100,q=2,m=0;QUJD\x1b\\\n");
  EXPECT_EQ(drawing(kKitty, picture(PictureFormat::kPng, 641, 10), "ABC", size),
            "\x1b_Ga=T,f=100,q=2,c=80,m=0;QUJD\x1b\\\n");
  const std::string pieces = drawing(kKitty, small, std::string(3072 + 3, 'A'), size);
  EXPECT_TRUE(pieces.starts_with("\x1b_Ga=T,f=100,q=2,m=1;QUFB"));
  EXPECT_TRUE(pieces.ends_with("QUFB\x1b\\\x1b_Gm=0;QUFB\x1b\\\n"));
  EXPECT_EQ(drawing(kIterm2, small, "ABC", size),
            "\x1b]1337;File=inline=1;size=3;preserveAspectRatio=1:QUJD\x07\n");
  EXPECT_EQ(drawing(kSixel, small, "\x1bPq~\x1b\\", size), "\x1bPq~\x1b\\\n");
  EXPECT_EQ(drawing(kNever, small, "ABC", size), "");
}

}  // namespace
}  // namespace subako::cli
