#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "bundle/bundle_fixture.h"

namespace subako::bundle {
namespace {

using testing::Assets;
using testing::kManifest;
using testing::kModule;
using testing::Scratch;
using testing::told;

Unpacking read_folder(const Scratch& folder, Assets& assets) {
  const Fd fd = folder.open();
  auto unpacking = read_bundle(fd.get(), assets);
  EXPECT_TRUE(unpacking) << (unpacking ? "" : unpacking.error().message);
  return unpacking ? *std::move(unpacking) : Unpacking{std::unexpected(Refusals{}), {}};
}
std::string told(const Scratch& folder) {
  Assets assets;
  return told(read_folder(folder, assets));
}

TEST(Directory, is_a_bundle_too) {  // spec: B1
  const Scratch folder;
  folder.write_bundle();
  folder.write("assets/a/b", "1");
  folder.write("assets/日本", "2");
  folder.write(".DS_Store", "x");
  folder.write("__MACOSX/y/z", "x");
  std::filesystem::create_directories(folder.path() / "assets/empty");
  std::filesystem::create_directories(folder.path() / "nothing/in/it");
  Assets assets;
  const Unpacking unpacking = read_folder(folder, assets);
  ASSERT_EQ(told(unpacking), "accepted");
  EXPECT_EQ(unpacking.bundle->manifest.name, "greet");
  EXPECT_EQ(assets.module_bytes, kModule);
  EXPECT_EQ(unpacking.bundle->module_bytes, kModule.size());
  EXPECT_EQ(unpacking.bundle->asset_files, 2U);
  const std::map<std::string, std::string> expected = {
      {"a/", ""}, {"a/b", "1"}, {"日本", "2"}, {"empty/", ""}};
  EXPECT_EQ(assets.files, expected);
  EXPECT_EQ(unpacking.warnings.size(), 1U);
}

TEST(Directory, is_refused_by_the_same_rules) {  // spec: B3
  const Scratch folder;
  const Scratch secret;
  secret.write("s", "secret");
  folder.write("subako-package.json", kManifest);
  folder.write("src/a.rs", "");
  folder.write("src/b.rs", "");
  std::filesystem::create_symlink(secret.path() / "s", folder.path() / "module.wasm");
  std::filesystem::create_directories(folder.path() / "assets");
  std::filesystem::create_symlink(secret.path(), folder.path() / "assets/link");
  ASSERT_EQ(::mkfifo((folder.path() / "assets/pipe").c_str(), 0600), 0);
  folder.write("assets/back\\slash", "");
  folder.write("assets/\xff", "");
  const std::string text = told(folder);
  for (const char* part :
       {"B3 src/a.rs: a bundle has no file here", "B3 module.wasm: the entry is a symbolic link",
        "B3 assets/link: the entry is a symbolic link", "B3 assets/pipe: the entry is a named pipe",
        "B3 assets/back\\slash: the path holds a backslash", "B3 assets/\\xff: the path is not UTF-8"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Directory, names_one_wrapping_folder) {  // spec: B3
  const Scratch folder;
  folder.write("greet/subako-package.json", kManifest);
  folder.write("greet/module.wasm", kModule);
  EXPECT_EQ(told(folder), "B3 greet/module.wasm: everything lies inside the folder \"greet/\"\n");
  const Scratch empty;
  EXPECT_EQ(told(empty), "B1 : the bundle is empty\n");
}

TEST(Directory, bounds_size_and_depth) {  // spec: L12
  const Scratch folder;
  folder.write_bundle();
  folder.write("assets/hole", "");
  std::filesystem::resize_file(folder.path() / "assets/hole", uint64_t{10} << 30U);
  EXPECT_EQ(told(folder), "B1 assets/hole: the bundle unpacks to more than 64 MiB\n");
  std::filesystem::remove(folder.path() / "assets/hole");

  Fd deepest = Fd(::open((folder.path() / "assets").c_str(), O_RDONLY | O_DIRECTORY));
  for (int i = 0; i < 700; ++i) {
    ASSERT_EQ(::mkdirat(deepest.get(), "d", 0755), 0);
    deepest = Fd(::openat(deepest.get(), "d", O_RDONLY | O_DIRECTORY));
  }
  EXPECT_NE(told(folder).find("bytes or longer"), std::string::npos);
}

TEST(Directory, a_tree_that_changes_meanwhile_does_no_harm) {  // spec: B3
  const Scratch folder;
  const Scratch secret;
  secret.write("secret", "SECRET");
  secret.write("dir/x", "SECRET");
  folder.write_bundle();
  for (int i = 0; i < 20; ++i) folder.write("assets/f" + std::to_string(i), "fine");
  folder.write("assets/dir/x", "fine");
  std::atomic<bool> done = false;
  std::thread meddler([&] {
    const auto assets = folder.path() / "assets";
    for (unsigned i = 0; !done; ++i) {
      std::error_code ignored;
      const auto file = assets / ("f" + std::to_string(i % 20));
      std::filesystem::remove_all(file, ignored);
      std::filesystem::remove_all(assets / "dir", ignored);
      switch (i % 4) {
        case 0:
          std::filesystem::create_symlink(secret.path() / "secret", file, ignored);
          std::filesystem::create_symlink(secret.path() / "dir", assets / "dir", ignored);
          break;
        case 1:
          ::mkfifo(file.c_str(), 0600);
          break;
        case 2:
          std::filesystem::create_directory(file, ignored);
          break;
        default:
          folder.write("assets/f" + std::to_string(i % 20), "fine");
          folder.write("assets/dir/x", "fine");
      }
    }
  });
  for (int i = 0; i < 150; ++i) {
    Assets assets;
    const Unpacking unpacking = read_folder(folder, assets);
    for (const auto& [path, bytes] : assets.files) EXPECT_EQ(bytes.find("SECRET"), std::string::npos) << path;
  }
  done = true;
  meddler.join();
}

}  // namespace
}  // namespace subako::bundle
