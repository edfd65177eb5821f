#include "child/handed_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "child/own_mounts.h"

namespace subako::child {
namespace {

namespace fs = std::filesystem;

class HandedTree : public testing::Test {
 protected:
  void SetUp() override {
    if (!may_make_mounts()) GTEST_SKIP() << "this process may make no mounts";
    char made[] = "/tmp/subako-handed-XXXXXX";
    folder_ = mkdtemp(made);
    for (const char* name : {"tree/tmp", "tree/data"}) fs::create_directories(folder_ / name);
    std::ofstream(folder_ / "tree/tmp/file") << "text";
    std::ofstream(folder_ / "beside") << "another's";
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  Fd open_path(const char* name, int flags = O_RDONLY) const {
    return Fd(open((folder_ / name).c_str(), flags | O_CLOEXEC));
  }
  Fd mounted(Access access, OwnerMaps* maps = nullptr) const {
    auto mount = mount_of_folder(open_path("tree").get(), access, maps);
    EXPECT_TRUE(mount) << mount.error().message;
    return mount ? *std::move(mount) : Fd();
  }
  fs::path folder_;
};

TEST_F(HandedTree, has_no_way_out) {
  const Fd mount = mounted(Access::kWrite);
  struct stat root{};
  struct stat above{};
  ASSERT_EQ(fstatat(mount.get(), ".", &root, 0), 0);
  ASSERT_EQ(fstatat(mount.get(), "../..", &above, 0), 0);
  EXPECT_EQ(root.st_ino, above.st_ino);
  EXPECT_EQ(faccessat(mount.get(), "../beside", F_OK, 0), -1);
  EXPECT_EQ(faccessat(open_path("tree").get(), "../beside", F_OK, 0), 0) << "as it would without a mount";
}

TEST_F(HandedTree, links_and_renames_work_between_folders_beneath_one_mount) {  // spec: F2
  const Fd mount = mounted(Access::kWrite);
  const Fd tmp(openat(mount.get(), "tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Fd data(openat(mount.get(), "data", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(linkat(tmp.get(), "file", data.get(), "linked", 0), 0);
  EXPECT_EQ(renameat(tmp.get(), "file", data.get(), "moved"), 0);
  EXPECT_TRUE(fs::exists(folder_ / "tree/data/moved"));
  const Fd other = mounted(Access::kWrite);
  EXPECT_EQ(renameat(data.get(), "moved", other.get(), "moved"), -1);
  EXPECT_EQ(errno, EXDEV);
}

TEST_F(HandedTree, what_is_open_beneath_outlives_the_mount) {
  Fd mount = mounted(Access::kWrite);
  const Fd tmp(openat(mount.get(), "tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  mount.reset();
  EXPECT_TRUE(Fd(openat(tmp.get(), "new", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)).valid());
  EXPECT_EQ(faccessat(tmp.get(), "../../beside", F_OK, 0), -1);
}

TEST_F(HandedTree, reads_only_where_it_is_for_reading) {
  const Fd mount = mounted(Access::kRead);
  EXPECT_EQ(openat(mount.get(), "tmp/new", O_CREAT | O_WRONLY | O_CLOEXEC, 0600), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(unlinkat(mount.get(), "tmp/file", 0), -1);
  const Fd file(openat(mount.get(), "tmp/file", O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(file.valid());
  EXPECT_EQ(fchmod(file.get(), 0777), -1);
  EXPECT_EQ(mmap(nullptr, 4, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0), MAP_FAILED) << "noexec";
}

TEST_F(HandedTree, a_file_may_be_code_and_stays_as_it_is) {
  const Fd file = open_path("tree/tmp/file");
  const auto handed = mount_of_file(file.get());
  ASSERT_TRUE(handed) << handed.error().message;
  EXPECT_EQ(fchmod(handed->get(), 0777), -1);
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(futimens(handed->get(), nullptr), -1);
  void* const code = mmap(nullptr, 4, PROT_READ | PROT_EXEC, MAP_PRIVATE, handed->get(), 0);
  EXPECT_NE(code, MAP_FAILED);
  if (code != MAP_FAILED) munmap(code, 4);
}

// What `id` makes beneath the mount, which it owns there, belongs on the disk to who owns the folder; of others' files it is no owner.
TEST_F(HandedTree, belongs_to_another_user_who_acts_for_its_owner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  constexpr uid_t kOwner = 12345;
  constexpr uid_t kId = 65533;
  for (const char* name : {"tree", "tree/tmp"}) ASSERT_EQ(chown((folder_ / name).c_str(), kOwner, kOwner), 0);
  ASSERT_EQ(chmod((folder_ / "tree").c_str(), 0700), 0);
  OwnerMaps maps(kId);
  auto mount = mount_of_folder(open_path("tree").get(), Access::kWrite, &maps);
  if (!mount) GTEST_SKIP() << "this file system can't: " << mount.error().message;
  const pid_t pid = fork();
  if (pid == 0) {
    if (setresgid(kId, kId, kId) != 0 || setresuid(kId, kId, kId) != 0) _exit(1);
    if (!Fd(openat(mount->get(), "tmp/made", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)).valid()) _exit(2);
    if (Fd(openat(mount->get(), "tmp/file", O_WRONLY | O_CLOEXEC)).valid()) _exit(3);  // root's, 0644
    if (unlinkat(mount->get(), "tmp/file", 0) != 0) _exit(4);  // from a folder that is its own
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "see above which";
  struct stat made{};
  ASSERT_EQ(stat((folder_ / "tree/tmp/made").c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, kOwner);
  EXPECT_EQ(made.st_gid, kOwner);
}

}  // namespace
}  // namespace subako::child
