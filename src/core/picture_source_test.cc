#include "core/picture_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/limits.h"
#include "core/scratch.h"

namespace subako::core {
namespace {

namespace fs = std::filesystem;

const std::string kPng = "\x89PNG\r\n\x1a\n";

class PictureSourceTest : public testing::Test {
 protected:
  PictureSourceTest()
      : scratch_(*Scratch::create(testing::TempDir())),
        folder_(*scratch_.make_folder("volume")),
        root_(folder_.path()) {
    for (const char* name : {"tmp", "data", "outside"}) fs::create_directory(root_ / name);
    open_volume(true);
  }

  void open_volume(bool data) {
    trees_.volume = std::make_shared<SessionVolume>(1, SessionVolume::Folders{.tmp = open_tree("tmp"), .data = data ? open_tree("data") : Fd()},
                                                    SessionVolume::Holds::kUnknown);
  }
  [[nodiscard]] Fd open_tree(const char* name) const {
    return Fd(open((root_ / name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  void put(const std::string& path, const std::string& bytes) const { std::ofstream(root_ / path) << bytes; }
  [[nodiscard]] std::string found(const std::string& path) const {
    return told(picture_in_volume(path, trees_));
  }

  static std::string told(const std::expected<Fd, std::string>& source) {
    if (!source) return source.error();
    std::string text(100, '\0');
    const ssize_t n = pread(source->get(), text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return text;
  }

  Scratch scratch_;
  ScratchFolder folder_;
  fs::path root_;
  Trees trees_;
};

TEST_F(PictureSourceTest, reads_beneath_its_own_tree) {  // spec: R3
  put("tmp/a.png", kPng + "tmp");
  put("data/a.png", kPng + "data");
  put("outside/a.png", kPng + "outside");
  fs::create_directory(root_ / "tmp/folder");
  fs::create_symlink("../a.png", root_ / "tmp/folder/within");
  fs::create_symlink("../data/a.png", root_ / "tmp/over");
  fs::create_symlink("../../outside/a.png", root_ / "tmp/folder/out");
  fs::create_symlink(root_ / "tmp/a.png", root_ / "tmp/absolute");
  fs::create_symlink("/proc/self/exe", root_ / "tmp/magic");
  fs::create_symlink("..", root_ / "tmp/up");
  fs::create_symlink("round", root_ / "tmp/round");
  fs::create_symlink("gone", root_ / "tmp/dangling");
  EXPECT_EQ(found("tmp/a.png"), kPng + "tmp");
  EXPECT_EQ(found("data/a.png"), kPng + "data");
  EXPECT_EQ(found("tmp/folder/within"), kPng + "tmp");
  for (const char* path : {"tmp/over", "tmp/folder/out", "tmp/absolute", "tmp/magic", "tmp/up/data/a.png"}) {
    EXPECT_EQ(found(path), "a link on its path leads out of /volume/tmp") << path;
  }
  EXPECT_EQ(found("tmp/round"), "its path is a chain of links without an end");
  for (const std::string path : {"tmp/dangling", "tmp/none", "tmp/a.png/b", "tmp", ""}) {
    EXPECT_EQ(found(path), "there is no such file") << path;
  }
  EXPECT_EQ(found("tmp/" + std::string(5000, 'x')), "there is no such file");
  open_volume(false);
  EXPECT_EQ(found("data/a.png"), "there is no such file") << "not enabled";
}

TEST_F(PictureSourceTest, what_is_no_regular_file_is_not_read_and_never_waited_for) {  // spec: R2
  fs::create_directory(root_ / "tmp/folder.png");
  ASSERT_EQ(mkfifo((root_ / "tmp/fifo.png").c_str(), 0600), 0);
  EXPECT_EQ(found("tmp/folder.png"), "it is a folder");
  EXPECT_EQ(found("tmp/fifo.png"), "it is no regular file");
  if (mknod((root_ / "tmp/device.png").c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0) {
    const std::string device = found("tmp/device.png");
    EXPECT_TRUE(device == "it is no regular file" || device.starts_with("opening it")) << device;
  }
}

TEST_F(PictureSourceTest, judges_by_first_bytes_and_size) {  // spec: R4
  put("tmp/text.png", "hello");
  put("tmp/empty.png", "");
  put("tmp/large.png", kPng);
  put("tmp/larger.png", kPng);
  put("tmp/large.csv", "a,b");
  fs::resize_file(root_ / "tmp/large.png", limits::kPictureBytes);
  fs::resize_file(root_ / "tmp/larger.png", limits::kPictureBytes + 1);
  fs::resize_file(root_ / "tmp/large.csv", limits::kPictureBytes + 1);
  EXPECT_EQ(found("tmp/text.png"), "its bytes are no PNG, JPEG, GIF or WebP");
  EXPECT_EQ(found("tmp/empty.png"), "it is empty");
  EXPECT_TRUE(found("tmp/large.png").starts_with(kPng));
  EXPECT_EQ(found("tmp/larger.png"), "it has 10,485,761 bytes, and a picture may have 10,485,760 (10 MiB)");
  EXPECT_EQ(found("tmp/large.csv"), "its bytes are no PNG, JPEG, GIF or WebP");
}

TEST_F(PictureSourceTest, a_file_that_may_not_be_read_is_told) {  // spec: R2
  constexpr uid_t kNobody = 65534;
  put("tmp/secret.png", kPng);
  fs::permissions(root_ / "tmp/secret.png", fs::perms::none);
  const bool root = geteuid() == 0;  // who may read all
  ASSERT_EQ(seteuid(root ? kNobody : geteuid()), 0);
  const std::string told = found("tmp/secret.png");
  ASSERT_EQ(seteuid(root ? 0 : geteuid()), 0);
  EXPECT_EQ(told, "opening it: Permission denied");
}

TEST_F(PictureSourceTest, inline_pictures_are_base64) {  // spec: R2
  EXPECT_EQ(told(picture_in_base64("iVBO\nRw0KGgo")), kPng);
  EXPECT_EQ(told(picture_in_base64("not base64 !!!")), "its data is no base64");
  EXPECT_EQ(told(picture_in_base64("PHN2Zy8+")), "its bytes are no PNG, JPEG, GIF or WebP");
  EXPECT_EQ(told(picture_in_base64("")), "it is empty");
  EXPECT_EQ(told(picture_in_base64(std::string(14'000'000, 'A'))),
            "it has 10,485,761 bytes, and a picture may have 10,485,760 (10 MiB)");
}

}  // namespace
}  // namespace subako::core
