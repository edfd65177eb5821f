#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"
#include "protocol/call_result.h"

namespace subako::protocol {
namespace {

ViewBlock only(const std::string& block, bool data_enabled = false) {
  CallResult result;
  result.content = {block};
  const std::vector<ViewBlock> view = view_of(result, data_enabled);
  EXPECT_EQ(view.size(), 1U);
  return view.at(0);
}

TEST(View, every_kind_of_block) {  // spec: R2
  struct Row {
    std::string block;
    std::string kind;
    std::string text;
  };
  for (const Row& row : std::vector<Row>{
           {R"({"type":"text","text":"a\n\u001bb\ud800"})", "text",
            "a\n\x1b"
            "b\xef\xbf\xbd"},
           {R"({"type":"text","text":""})", "text", ""},
           {R"({"type":"text","text":5})", "note",
            R"([a block of type "text" is broken: it has no "text" string])"},
           {R"({"type":"text"})", "note", R"([a block of type "text" is broken: it has no "text" string])"},
           {R"({"type":"image","mimeType":"image/png","data":"AAAA"})", "picture",
            "[picture: image/png, 3 B]"},
           {R"({"type":"image","data":"AA AA\nAA=="})", "picture", "[picture: 4 B]"},
           {R"({"type":"image","mimeType":"a\nb","data":""})", "picture", "[picture: a\\nb, 0 B]"},
           {R"({"type":"image","mimeType":"image/png"})", "note",
            R"([a block of type "image" is broken: it has no "data" string])"},
           {R"({"type":"image","mimeType":"image/png","data":null})", "note",
            R"([a block of type "image" is broken: it has no "data" string])"},
           {R"({"type":"resource_link","uri":"volume:///tmp/chart.png","name":"chart.png"})", "picture",
            "[picture: chart.png (volume:///tmp/chart.png)]"},
           {R"({"type":"resource_link","uri":"volume:///tmp/chart.JPEG"})", "picture",
            "[picture: volume:///tmp/chart.JPEG]"},
           {R"({"type":"resource_link","uri":"volume:///tmp/chart","mimeType":"IMAGE/png","name":5})",
            "picture", "[picture: volume:///tmp/chart]"},
           {R"({"type":"resource_link","uri":"volume:///tmp/report.csv","name":"report.csv"})", "link",
            "[link: report.csv (volume:///tmp/report.csv)]"},
           {R"({"type":"resource_link","uri":"volume:///tmp/odd","name":"odd"})", "link",
            "[link: odd (volume:///tmp/odd)]"},
           {R"({"type":"resource_link","uri":"volume:///tmp.png/a","name":"x"})", "link",
            "[link: x (volume:///tmp.png/a)]"},
           {R"({"type":"resource_link","uri":"volume:///tmp/a.png/b","name":"x"})", "link",
            "[link: x (volume:///tmp/a.png/b)]"},
           {R"({"type":"resource_link","uri":"volume:///tmp/../a.png","name":"x"})", "link",
            "[link: x (volume:///tmp/../a.png)]"},
           {R"({"type":"resource_link","uri":"file:///package/logo.png","name":"logo.png"})", "link",
            "[link: logo.png (file:///package/logo.png)]"},
           {R"({"type":"resource_link","uri":"https://example.com/a.png"})", "link",
            "[link: https://example.com/a.png]"},
           {R"({"type":"resource_link","uri":"x:\nIgnore this","name":"a\nb\u202e"})", "link",
            "[link: a\\nb\\u{202e} (x:\\nIgnore this)]"},
           {R"({"type":"resource_link","name":"a"})", "note",
            R"([a block of type "resource_link" is broken: it has no "uri" string that names something])"},
           {R"({"type":"audio","data":"AAAA","mimeType":"audio/wav"})", "note",
            R"([a block of type "audio" was left out])"},
           {R"({"type":"resource","resource":{}})", "note", R"([a block of type "resource" was left out])"},
           {R"({"type":"new\nline"})", "note", R"([a block of type "new\nline" was left out])"},
           {R"({"text":"x"})", "note", R"([a broken block was left out: it has no "type" string])"},
           {"{}", "note", R"([a broken block was left out: it has no "type" string])"},
           {"null", "note", "[a broken block was left out: it is no object]"},
           {"\"text\"", "note", "[a broken block was left out: it is no object]"}}) {
    const ViewBlock block = only(row.block);
    EXPECT_EQ(view_kind_name(block.kind), row.kind) << row.block;
    EXPECT_EQ(block.text, row.text) << row.block;
  }
}

TEST(View, pictures_carry_where_they_are) {  // spec: R2, R3
  const ViewBlock inline_one = only(R"({"type":"image","mimeType":"image/png","data":"iVBO Rw\u003d"})");
  EXPECT_EQ(inline_one.base64, "iVBO Rw=");
  EXPECT_EQ(inline_one.path, std::nullopt);
  EXPECT_EQ(inline_one.what, "inline image/png");
  const ViewBlock linked =
      only(R"({"type":"resource_link","uri":"volume:///tmp/%E5%9B%B3%20a.webp","name":"x"})");
  EXPECT_EQ(linked.path, "tmp/図 a.webp");
  EXPECT_EQ(linked.base64, std::nullopt);
  const std::string in_data = R"({"type":"resource_link","uri":"volume:///data/a.gif","name":"a"})";
  EXPECT_EQ(only(in_data, true).path, "data/a.gif");
  EXPECT_EQ(view_kind_name(only(in_data, false).kind), "link");
  EXPECT_EQ(only(in_data, false).path, std::nullopt);
  // A link of the Volume may be a picture by its bytes.
  const ViewBlock unnamed = only(R"({"type":"resource_link","uri":"volume:///tmp/a%0ab","name":"plot"})");
  EXPECT_EQ(view_kind_name(unnamed.kind), "link");
  EXPECT_EQ(unnamed.path, "tmp/a\nb");
  EXPECT_EQ(unnamed.what, "plot (volume:///tmp/a%0ab)");
}

TEST(View, sizes_are_told_as_people_count_them) {  // spec: R2
  const auto sized = [](size_t base64) {
    return only(R"({"type":"image","mimeType":"image/png","data":")" + std::string(base64, 'A') + "\"}").text;
  };
  EXPECT_EQ(sized(4096), "[picture: image/png, 3.0 KiB]");
  EXPECT_EQ(sized(2'000'000), "[picture: image/png, 1.4 MiB]");
}

TEST(View, keeps_the_order_and_of_structured_content_alone_nothing) {  // spec: R2
  CallResult result;
  result.content = {R"({"type":"text","text":"1"})", R"({"type":"audio"})", R"({"type":"text","text":"2"})"};
  const auto view = view_of(result, false);
  ASSERT_EQ(view.size(), 3U);
  EXPECT_EQ(view[0].text, "1");
  EXPECT_EQ(view[2].text, "2");
  CallResult structured;
  structured.structured_content = "{}";
  EXPECT_TRUE(view_of(structured, false).empty());
}

TEST(View, notes_about_countless_blocks_are_bounded) {  // spec: R2
  CallResult result;
  result.content.assign(500'000, "1");
  result.content.emplace_back(R"({"type":"text","text":"last"})");
  const auto view = view_of(result, false);
  ASSERT_EQ(view.size(), limits::kResultNotes + 2);
  EXPECT_EQ(view[limits::kResultNotes].text, "last");
  EXPECT_EQ(view.back().text, "[499,000 more blocks were left out]");
}

}  // namespace
}  // namespace subako::protocol
