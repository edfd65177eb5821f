#include "protocol/picture_note.h"

#include <gtest/gtest.h>

#include "protocol/size_words.h"

namespace subako::protocol {
namespace {

TEST(PictureNote, a_line_tells_what_is_shown) {  // spec: R4
  PictureFacts facts{.format = PictureFormat::kPng,
                     .width = 640,
                     .height = 480,
                     .source_width = 640,
                     .source_height = 480,
                     .bytes = 12'595};
  EXPECT_EQ(picture_line("plot.png (volume:///tmp/plot.png)", facts),
            "[picture: plot.png (volume:///tmp/plot.png), PNG 640 × 480, 12.3 KiB]");
  EXPECT_EQ(picture_line("", facts), "[picture: PNG 640 × 480, 12.3 KiB]");
  facts = {.format = PictureFormat::kGif,
           .width = 2000,
           .height = 1000,
           .source_width = 3000,
           .source_height = 1500,
           .scaled = true,
           .first_frame = true,
           .bytes = 100};
  EXPECT_EQ(picture_line("a", facts),
            "[picture: a, GIF 2000 × 1000 (scaled from 3000 × 1500), first frame of an animation, 100 B]");
  facts = {.format = PictureFormat::kJpeg,
           .width = 1000,
           .height = 2000,
           .source_width = 3000,
           .source_height = 1500,
           .scaled = true,
           .bytes = 100};
  EXPECT_EQ(picture_line("", facts),
            "[picture: JPEG 1000 × 2000 (turned and scaled from 3000 × 1500), 100 B]");
  facts = {.format = PictureFormat::kPng,
           .width = 2000,
           .height = 2000,
           .source_width = 10'000,
           .source_height = 9'999,
           .scaled = true,
           .bytes = 100};
  EXPECT_EQ(picture_line("", facts), "[picture: PNG 2000 × 2000 (scaled from 10000 × 9999), 100 B]");
}

TEST(PictureNote, a_note_says_why) {  // spec: R2
  EXPECT_EQ(picture_note("a.png", too_many_reason()),
            "[picture not shown: a.png: only the first 20 pictures of a result are shown]");
  EXPECT_EQ(picture_note("", no_picture_reason()),
            "[picture not shown: its bytes are no PNG, JPEG, GIF or WebP]");
  EXPECT_EQ(too_large_reason(10'485'761),
            "it has 10,485,761 bytes, and a picture may have 10,485,760 (10 MiB)");
}

TEST(PictureNote, sizes_are_told_as_people_count_them) {
  EXPECT_EQ(size_words(0), "0 B");
  EXPECT_EQ(size_words(1023), "1023 B");
  EXPECT_EQ(size_words(3072), "3.0 KiB");
  EXPECT_EQ(size_words(1'500'000), "1.4 MiB");
}

}  // namespace
}  // namespace subako::protocol
