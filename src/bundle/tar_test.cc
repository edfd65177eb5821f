#include <algorithm>

#include "bundle/bundle_fixture.h"
#include "bundle/tar_archive.h"

namespace subako::bundle {
namespace {

using testing::Assets;
using testing::gzip;
using testing::pax_record;
using testing::read_bytes;
using testing::tar;
using testing::tar_entry;
using testing::tar_with;
using testing::TarEntry;
using testing::told;

TEST(Tar, refuses_what_is_no_file_and_no_folder) {  // spec: B3
  struct Row {
    char type;
    std::string_view told;
  };
  for (const Row& row :
       {Row{'1', "a hard link"}, Row{'2', "a symbolic link"}, Row{'3', "a device"}, Row{'4', "a device"},
        Row{'6', "a named pipe"}, Row{'S', "a sparse file"}, Row{'Z', "of a kind"}}) {
    const std::string text = told(tar_with({{"assets/x", "", row.type, "module.wasm"}, {"assets/y", "1"}}));
    EXPECT_TRUE(text.starts_with("B3 assets/x: the entry is " + std::string(row.told))) << text;
    EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  }
}

TEST(Tar, a_hard_link_has_no_data_whatever_its_size_says) {  // spec: B3
  EXPECT_EQ(told(tar_with({{"assets/x", "", '1', "module.wasm", 1 << 20}, {"assets/y", "1"}})),
            "B3 assets/x: the entry is a hard link\n");
}

TEST(Tar, reads_pax_and_gnu_names_and_sizes) {  // spec: B3
  const std::string path = "assets/" + std::string(200, 'p') + "/日本.txt";
  Assets assets;
  const auto unpacking = read_bytes(
      tar_with({{"", pax_record("comment", "hi") + pax_record("mtime", "1.5"), 'g'},
                {"h", pax_record("path", path) + pax_record("size", "3"), 'x'},
                {"short", "abc", '0', "", 0},
                {"././@LongLink", "assets/gnu" + std::string(150, 'g') + std::string(1, '\0'), 'L'},
                {"short", "def"}}),
      assets);
  EXPECT_EQ(told(unpacking), "accepted");
  EXPECT_EQ(assets.files[path.substr(7)], "abc");
  EXPECT_EQ(assets.files["gnu" + std::string(150, 'g')], "def");
}

TEST(Tar, reads_base_256_sizes) {  // spec: B1
  std::string entry = tar_entry({"assets/x", "abc"});
  entry.replace(124, 12, std::string("\x80\0\0\0\0\0\0\0\0\0\0\x03", 12));
  unsigned sum = 0;
  for (size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(i >= 148 && i < 156 ? ' ' : entry[i]);
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%06o", sum);
  entry.replace(148, 7, std::string_view(text.data(), 7));
  std::string bundle = tar_with({});
  bundle.insert(bundle.size() - 1024, entry);
  EXPECT_EQ(told(bundle), "accepted");
}

TEST(Tar, refuses_what_hides_behind_headers) {  // spec: B3
  struct Row {
    std::vector<TarEntry> more;
    std::string_view told;
  };
  for (const Row& row : {
           Row{{{"h", pax_record("path", "../../etc/x"), 'x'}, {"assets/x", ""}},
               "B3 ../../etc/x: the path holds \"..\""},
           Row{{{"h", pax_record("path", std::string("assets/a\0b", 10)), 'x'}, {"assets/x", ""}}, "NUL"},
           Row{{{"h", pax_record("path", "assets/\xff"), 'x'}, {"assets/x", ""}}, "not UTF-8"},
           Row{{{"h", pax_record("path", "assets/" + std::string(70'000, 'a')), 'x'}, {"assets/x", ""}},
               "70007 bytes"},
           Row{{{"h", pax_record("GNU.sparse.major", "1"), 'x'}, {"assets/x", ""}}, "a sparse file"},
           Row{{{"h", pax_record("path", "assets/y"), 'g'}, {"assets/x", ""}},
               "a global pax header sets a path"},
           Row{{{"h", pax_record("size", "-1"), 'x'}, {"assets/x", ""}}, "a pax size is no number"},
           Row{{{"h", pax_record("size", "18446744073709551616"), 'x'}, {"assets/x", ""}},
               "a pax size is no number"},
           Row{{{"h", pax_record("size", "18446744073709551615"), 'x'}, {"assets/x", ""}}, "cut off"},
           Row{{{"h", "9999999999999999999999 path=x\n", 'x'}, {"assets/x", ""}}, "malformed"},
           Row{{{"h", "5 path=x\n", 'x'}, {"assets/x", ""}}, "malformed"},
           Row{{{"h", "0", 'x'}, {"assets/x", ""}}, "malformed"},
           Row{{{"h", "", 'x', "", int64_t{1} << 32}}, "special header of more than 1 MiB"},
           Row{{{"h", "assets/z", 'L'}}, "ends where an entry should follow"},
           Row{std::vector<TarEntry>(40, TarEntry{"h", "assets/z", 'L'}), "too many special headers"},
           Row{{{"assets/x", "", 'M'}}, "one volume of several"},
           Row{{{"assets/x", "", '0', "", 077777777777}}, "cut off within this entry"},
       }) {
    const std::string text = told(tar_with(row.more));
    EXPECT_NE(text.find(row.told), std::string::npos) << row.told << "\n" << text;
  }
}

TEST(Tar, must_end_properly) {  // spec: B1
  const std::string whole = tar_with({{"assets/a", "1"}, {"assets/b", std::string(600, 'b')}});
  const size_t contents = whole.size() - 1024;
  for (size_t cut = 0; cut < whole.size(); cut += 512) {
    const std::string text = told(whole.substr(0, cut));
    EXPECT_EQ(text == "accepted", cut > contents) << cut << text;
    if (cut > 0 && cut <= contents) {
      EXPECT_NE(text.find("cut off"), std::string::npos) << text;
    }
  }
  EXPECT_NE(told(whole.substr(0, contents)).find("B1 assets/b: "), std::string::npos);
  EXPECT_EQ(told(whole + std::string(9000, '\0')), "accepted");
  EXPECT_NE(told(whole + tar_with({})).find("second archive"), std::string::npos);
  std::string flipped = whole;
  flipped[512 + 512 + 3] ^= 1;  // in a header
  EXPECT_NE(told(flipped).find("checksum"), std::string::npos);
}

TEST(Gzip, checks_its_checksum_and_end) {  // spec: B1
  const std::string bundle = tar_with({{"assets/a", "1"}});
  const std::string packed = gzip(bundle);
  EXPECT_EQ(told(packed), "accepted");
  EXPECT_EQ(told(packed + std::string(100, '\0')), "accepted");
  EXPECT_EQ(told(gzip(bundle.substr(0, 700)) + gzip("") + gzip(bundle.substr(700))), "accepted");
  EXPECT_NE(told(packed + "x").find("something else"), std::string::npos);
  EXPECT_NE(told(packed + "\x1f").find("cut off"), std::string::npos);
  std::string wrong = packed;
  wrong[wrong.size() - 6] ^= 1;
  EXPECT_NE(told(wrong).find("damaged (incorrect data check)"), std::string::npos);
}

}  // namespace
}  // namespace subako::bundle
