#include "protocol/sixel.h"

#include <gtest/gtest.h>

#include <vector>

namespace subako::protocol {
namespace {

using namespace std::string_view_literals;

TEST(Sixel, is_one_string_of_sixel_and_nothing_else) {  // spec: R5
  for (const std::string_view good :
       {"\x1bPq\x1b\\"sv, "\x1bP0;1;0q\"1;1;4;6#0;2;100;0;0#0!4~-\n$\x1b\\"sv}) {
    EXPECT_TRUE(is_sixel(good)) << good;
  }
  for (const std::string_view bad : {
           ""sv,
           "\x1bP"sv,
           "\x1b\\"sv,
           "\x1bP\\"sv,
           "\x1bPq~"sv,
           "~~~"sv,
           "\x1bP0;1~\x1b\\"sv,
           "\x1bP$q~\x1b\\"sv,
           "\x1bPq~\x1b\\\x1b]0;title\x07\x1b\\"sv,  // ends the picture early
           "\x1bPq~\x1b[2J\x1b\\"sv,
           "\x1bPq~\x18\x1b\\"sv,  // CAN ends it too
           "\x1bPq~\x9c\x1b\\"sv,  // as does C1's string terminator
           "\x1bPq~\0\x1b\\"sv,
           "\x1bPq~\x7f\x1b\\"sv,
           "\n\x1bPq~\x1b\\"sv,
           "\x1bPq~\x1b\\\n"sv,
       }) {
    EXPECT_FALSE(is_sixel(bad));
  }
}

}  // namespace
}  // namespace subako::protocol
