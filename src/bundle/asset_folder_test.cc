#include "bundle/asset_folder.h"

#include <sys/stat.h>

#include "bundle/bundle_fixture.h"

namespace subako::bundle {
namespace {

using testing::Scratch;

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777U;
}

TEST(AssetFolder, appends_the_module_to_its_file) {  // spec: B1
  const Scratch out;
  const Fd fd = out.open();
  const Fd module = testing::file_of("");
  AssetFolder assets(fd.get(), module.get());
  EXPECT_TRUE(assets.module("one "));
  EXPECT_TRUE(assets.module("two"));
  EXPECT_EQ(testing::bytes_of(module), "one two");
  AssetFolder nowhere(fd.get(), -1);
  EXPECT_FALSE(nowhere.module("x"));
}

TEST(AssetFolder, writes_read_only_files_whatever_the_umask) {  // spec: B1
  const Scratch out;
  const Fd fd = out.open();
  const mode_t before = ::umask(0777);
  AssetFolder assets(fd.get(), -1);
  EXPECT_TRUE(assets.folder("a"));
  EXPECT_TRUE(assets.folder("a/b"));
  EXPECT_TRUE(assets.open("a/b/c"));
  EXPECT_TRUE(assets.write("one "));
  EXPECT_TRUE(assets.write("two"));
  EXPECT_TRUE(assets.close());
  ::umask(before);
  EXPECT_EQ(out.read("a/b/c"), "one two");
  EXPECT_EQ(mode_of(out.path() / "a/b/c"), 0444U);
  EXPECT_EQ(mode_of(out.path() / "a/b"), 0755U);
}

TEST(AssetFolder, overwrites_nothing_and_follows_nothing) {  // spec: B3
  const Scratch out;
  const Scratch other;
  out.write("there", "old");
  std::filesystem::create_symlink(other.path(), out.path() / "link");
  std::filesystem::create_symlink(other.path() / "new", out.path() / "file_link");
  const Fd fd = out.open();
  AssetFolder assets(fd.get(), -1);
  EXPECT_EQ(assets.open("there").error().code, Code::kConflict);
  for (const char* path : {"link/x", "file_link", "../x", "/tmp/subako-absolute"})
    EXPECT_FALSE(assets.open(path)) << path;
  EXPECT_FALSE(assets.folder("link/x"));
  EXPECT_FALSE(assets.folder("../x"));
  EXPECT_EQ(out.read("there"), "old");
  EXPECT_TRUE(std::filesystem::is_empty(other.path()));
}

TEST(AssetFolder, what_it_can_not_write_is_an_error_of_ours) {  // spec: B1
  AssetFolder assets(-1, -1);
  const auto opened = assets.open("x");
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("asset"), std::string::npos);
  const Fd bundle = testing::file_of(testing::tar_with({{"assets/x", "1"}}));
  EXPECT_FALSE(read_archive(bundle.get(), assets));
}

}  // namespace
}  // namespace subako::bundle
