#include "bundle/bundle_fixture.h"
#include "bundle/zip_archive.h"

namespace subako::bundle {
namespace {

using testing::Assets;
using testing::read_bytes;
using testing::told;
using testing::whole_zip;
using testing::Zip;
using testing::zip64;
using testing::zip_with;
using testing::ZipFile;

TEST(Zip, reads_stored_deflated_and_streamed_entries) {  // spec: B1
  Assets assets;
  const auto unpacking = read_bytes(zip_with({{"assets/stored", "abc", 0},
                                              {"assets/streamed", "def", 8, 8},
                                              {"assets/stored_streamed", "ghi", 0, 8},
                                              {"assets/dir/", "", 0, 0, 040755},
                                              {"assets/no_mode", "jkl", 8, 0, 0},
                                              {"assets/日本", "", 0, 0x800}}),
                                    assets);
  EXPECT_EQ(told(unpacking), "accepted");
  const std::map<std::string, std::string> expected = {{"stored", "abc"},          {"streamed", "def"},
                                                       {"stored_streamed", "ghi"}, {"dir/", ""},
                                                       {"no_mode", "jkl"},         {"日本", ""}};
  EXPECT_EQ(assets.files, expected);
}

TEST(Zip, reads_zip64) {  // spec: B1
  EXPECT_EQ(told(zip64()), "accepted");
}

TEST(Zip, refuses_entries_that_no_bundle_has) {  // spec: B3
  struct Row {
    ZipFile file;
    std::string_view told;
  };
  for (const Row& row : {
           Row{{"assets/x", "t", 0, 0, 0120777}, "B3 assets/x: the entry is a symbolic link\n"},
           Row{{"assets/x", "", 0, 0, 020666}, "B3 assets/x: the entry is a device\n"},
           Row{{"assets/x", "", 0, 0, 010666}, "B3 assets/x: the entry is a named pipe\n"},
           Row{{"assets/x", "abc", 8, 1}, "B1 assets/x: the entry is encrypted\n"},
           Row{{"assets/x", "abc", 12}, "B1 assets/x: the entry is compressed with bzip2 (zip method 12)\n"},
           Row{{"assets/x", "abc", 99},
               "B1 assets/x: the entry is compressed with an unknown method (zip method 99)\n"},
           Row{{"../x", "abc"}, "B3 ../x: the path holds \"..\"\n"},
           Row{{"/x", "abc"}, "B3 /x: the path is absolute\n"},
           Row{{"assets\\x", "abc"}, "B3 assets\\x: the path holds a backslash\n"},
           Row{{std::string("assets/\0", 8), "abc"}, "B3 assets/\\x00: the path holds a NUL byte\n"},
           Row{{"assets/\x93\xfa", "abc"}, "B3 assets/\\x93\\xfa: the path is not UTF-8\n"},
           Row{{"module.wasm", "abc"}, "B3 module.wasm: the bundle holds this file twice\n"},
           Row{{"assets/" + std::string(60'000, 'a'), ""}, ""},
       }) {
    const std::string text = told(zip_with({row.file}));
    if (row.told.empty()) {
      EXPECT_NE(text.find("bytes or longer"), std::string::npos) << text;
    } else {
      EXPECT_EQ(text, row.told);
    }
  }
}

TEST(Zip, an_encrypted_file_is_not_called_missing) {  // spec: B3
  Zip zip;
  zip.add({"subako-package.json", "{}", 8, 1});
  zip.add({"module.wasm", "abc", 8, 1});
  EXPECT_EQ(told(zip.done()),
            "B1 subako-package.json: the entry is encrypted\nB1 module.wasm: the entry is encrypted\n");
}

TEST(Zip, refuses_sizes_that_lie) {  // spec: B3
  const std::string big(100'000, 'a');
  EXPECT_NE(told(zip_with({{"assets/x", big, 8, 0, 0100644, 10}})).find("larger than the zip says"),
            std::string::npos);
  EXPECT_NE(told(zip_with({{"assets/x", big, 8, 0, 0100644, 100'001}})).find("smaller than the zip says"),
            std::string::npos);
  EXPECT_NE(told(zip_with({{"assets/x", big, 0, 0, 0100644, 10}})).find("larger than the zip says"),
            std::string::npos);
}

TEST(Zip, refuses_damage) {  // spec: B1
  const std::string whole = zip_with({{"assets/x", "abcabc", 0}});
  std::string wrong = whole;
  wrong[wrong.find("abcabc")] ^= 1;
  EXPECT_NE(told(wrong).find("B1 assets/x: the entry's checksum is wrong"), std::string::npos);
  EXPECT_NE(
      told(zip_with({{"assets/x", "", 8, 0, 0100644, -1, "assets/y"}})).find("contradicts the directory"),
      std::string::npos);
  EXPECT_NE(told(whole + "x").find("doesn't end with its directory"), std::string::npos);
  std::string split = whole;
  split[split.size() - 18] = 2;
  EXPECT_NE(told(split).find("one part of several"), std::string::npos);
  std::string fewer = whole;
  fewer[fewer.size() - 12] = 2;
  EXPECT_NE(told(fewer).find("more entries than it says"), std::string::npos);
  std::string more = whole;
  more[more.size() - 12] = 4;
  EXPECT_NE(told(more).find("ends early"), std::string::npos);
}

TEST(Zip, refuses_entries_that_overlap) {  // spec: B3
  Zip zip = whole_zip();
  const uint64_t at = zip.local.size();
  zip.add({"assets/x", "abc", 0});
  const ZipFile again{"assets/x", "abc", 0};
  zip.list(again, zip.directory.substr(zip.directory.size() - 46 - again.path.size() + 6, 22), at);
  EXPECT_NE(told(zip.done()).find("overlaps with another one"), std::string::npos) << told(zip.done());
}

}  // namespace
}  // namespace subako::bundle
