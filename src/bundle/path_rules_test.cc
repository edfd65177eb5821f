#include "bundle/path_rules.h"

#include <gtest/gtest.h>

namespace subako::bundle {
namespace {

TEST(Place, finds_what_lies_where) {  // spec: B1
  struct Row {
    std::string_view raw;
    PathOf what;
    Place place;
    std::string_view path;
  };
  for (const Row& row : {
           Row{"subako-package.json", PathOf::kFile, Place::kManifest, "subako-package.json"},
           Row{"./module.wasm", PathOf::kFile, Place::kModule, "module.wasm"},
           Row{"././assets//a/./b", PathOf::kFile, Place::kAsset, "assets/a/b"},
           Row{"assets/日本.txt", PathOf::kFile, Place::kAsset, "assets/日本.txt"},
           Row{"./", PathOf::kFolder, Place::kFolder, ""},
           Row{"assets/", PathOf::kFolder, Place::kFolder, "assets"},
           Row{"assets/a/", PathOf::kFolder, Place::kFolder, "assets/a"},
           Row{"assets/...", PathOf::kFile, Place::kAsset, "assets/..."},
           Row{"assets", PathOf::kFile, Place::kElsewhere, "assets"},
           Row{"Module.wasm", PathOf::kFile, Place::kElsewhere, "Module.wasm"},
           Row{"src/main.rs", PathOf::kFile, Place::kElsewhere, "src/main.rs"},
           Row{"src", PathOf::kFolder, Place::kElsewhere, "src"},
           Row{"assets2/x", PathOf::kFile, Place::kElsewhere, "assets2/x"},
           Row{"a/subako-package.json", PathOf::kFile, Place::kElsewhere, "a/subako-package.json"},
       }) {
    const auto placed = place(row.raw, row.what);
    ASSERT_TRUE(placed) << row.raw;
    EXPECT_EQ(placed->place, row.place) << row.raw;
    EXPECT_EQ(placed->path, row.path);
  }
}

TEST(Place, knows_what_macos_leaves_behind) {  // spec: B3
  for (const std::string_view raw :
       {".DS_Store", "assets/.DS_Store", "._module.wasm", "assets/a/._b", "__MACOSX/x", "__MACOSX/._x"}) {
    const auto placed = place(raw, PathOf::kFile);
    ASSERT_TRUE(placed) << raw;
    EXPECT_EQ(placed->place, Place::kJunk) << raw;
  }
  EXPECT_EQ(place("assets/__MACOSX", PathOf::kFile)->place, Place::kAsset);
}

TEST(Place, refuses_paths_that_no_bundle_has) {  // spec: B3
  const std::string long_name(256, 'n');
  const std::string longest_name = "assets/" + std::string(255, 'n');
  std::string long_path = "assets";
  while (long_path.size() <= 1024) long_path += "/abcdefgh";
  struct Row {
    std::string raw;
    std::string_view message;
  };
  for (const Row& row : {
           Row{"/etc/passwd", "absolute"},
           Row{"//assets/x", "absolute"},
           Row{"../x", "\"..\""},
           Row{"assets/../../x", "\"..\""},
           Row{"assets/..", "\"..\""},
           Row{"assets\\x", "backslash"},
           Row{"..\\x", "backslash"},
           Row{"C:\\x", "backslash"},
           Row{std::string("assets/a\0b", 10), "NUL"},
           Row{"assets/\xff", "UTF-8"},
           Row{"assets/\xc0\xae\xc0\xae/x", "UTF-8"},
           Row{"assets/" + long_name, "256 bytes"},
           Row{long_path, "1024"},
           Row{"", "no name"},
           Row{"./", "no name"},
       }) {
    const auto placed = place(row.raw, PathOf::kFile);
    ASSERT_FALSE(placed) << row.raw;
    EXPECT_EQ(placed.error().rule, "B3");
    EXPECT_NE(placed.error().message.find(row.message), std::string::npos) << placed.error().message;
    EXPECT_FALSE(placed.error().hint.empty());
  }
  EXPECT_TRUE(place(longest_name, PathOf::kFile));
  EXPECT_TRUE(place(long_path.substr(0, 1024), PathOf::kFile));
}

}  // namespace
}  // namespace subako::bundle
