#include "protocol/base64.h"

#include <gtest/gtest.h>

#include <vector>

namespace subako::protocol {
namespace {

using namespace std::string_view_literals;

TEST(Base64, takes_what_guests_write) {  // spec: R2
  struct Row {
    std::string_view text;
    std::string_view bytes;
  };
  for (const Row& row : std::vector<Row>{
           {"", ""},
           {" \t\r\n", ""},
           {"QQ==", "A"},
           {"QQ", "A"},
           {"QQ=", "A"},
           {"QR==", "A"},  // the bits that no byte takes may be anything
           {"QUI=", "AB"},
           {"QUI", "AB"},
           {"QUJD", "ABC"},
           {"QUJDRA==", "ABCD"},
           {"QU\nJD\r\nRA = =\v\f", "ABCD"},
           {"AAAA", "\0\0\0"sv},
           {"+/+/", "\xfb\xff\xbf"},
           {"iVBORw0KGgo=", "\x89PNG\r\n\x1a\n"},
       }) {
    const auto decoded = decode_base64(row.text, 100);
    ASSERT_TRUE(decoded) << row.text;
    EXPECT_EQ(*decoded, row.bytes) << row.text;
  }
}

TEST(Base64, refuses_other_garbage) {  // spec: R2
  for (const std::string_view text :
       {"Q"sv, "QUJDR"sv, "not base64 !!!"sv, "QQ==QQ=="sv, "QQ==="sv, "Q-_Q"sv,
        "data:image/png;base64,QQ=="sv, "QQ\0Q"sv, "QQ\xc2\xa0Q"sv, "QUI=x"sv}) {
    const auto decoded = decode_base64(text, 100);
    ASSERT_FALSE(decoded) << text;
    EXPECT_EQ(decoded.error(), Base64Fault::kNoBase64) << text;
  }
}

TEST(Base64, stops_at_its_bound) {  // spec: R4
  EXPECT_EQ(decode_base64("QUJDRA==", 4), "ABCD");
  const auto over = decode_base64("QUJDRA==", 3);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error(), Base64Fault::kTooLarge);
  // What comes after the bound isn't looked at.
  EXPECT_EQ(decode_base64("QUJDRA!!!", 3).error(), Base64Fault::kTooLarge);
}

TEST(Base64, writes_what_it_reads) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("A"), "QQ==");
  EXPECT_EQ(encode_base64("AB"), "QUI=");
  EXPECT_EQ(encode_base64("ABC"), "QUJD");
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(decode_base64(encode_base64(all), 256), all);
}

}  // namespace
}  // namespace subako::protocol
