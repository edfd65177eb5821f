#include "core/scratch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/remove_tree.h"

namespace subako::core {
namespace {

class ScratchTest : public testing::Test {
 protected:
  ScratchTest() {
    // In memory where there is such a place: a disk may take milliseconds to remove one folder.
    const char* memory = "/dev/shm";
    const std::filesystem::path place =
        access(memory, W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
    std::string pattern = (place / "scratch-test-XXXXXX").string();
    parent_ = mkdtemp(pattern.data());
  }
  ~ScratchTest() override { std::filesystem::remove_all(parent_); }
  [[nodiscard]] size_t entries() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(parent_), {}));
  }
  std::string parent_;
};

TEST_F(ScratchTest, is_ours_alone_and_gone_afterwards) {
  {
    auto scratch = Scratch::create(parent_);
    ASSERT_TRUE(scratch) << scratch.error().message;
    struct stat s{};
    ASSERT_EQ(stat(scratch->path().c_str(), &s), 0);
    EXPECT_EQ(s.st_mode & 0777U, 0700U);
    auto folder = scratch->make_folder("volume");
    ASSERT_TRUE(folder);
    std::ofstream(folder->path() + "/file") << "text";
    EXPECT_TRUE(std::filesystem::exists(folder->path() + "/file"));
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(ScratchTest, a_folder_goes_before_its_scratch) {
  auto scratch = Scratch::create(parent_);
  std::string path;
  {
    auto folder = scratch->make_folder("assets");
    path = folder->path();
    std::filesystem::create_directories(path + "/a/b/c");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ScratchTest, sweeps_what_a_killed_process_left) {
  const pid_t pid = fork();
  if (pid == 0) {
    auto scratch = Scratch::create(parent_);
    std::ofstream(scratch->path() + "/left") << "x";
    _exit(scratch ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(entries(), 1U);
  auto scratch = Scratch::create(parent_);
  EXPECT_EQ(entries(), 1U) << "only the new one";
}

// Killed between making its lock and marking it. A minute old, as a living one may be at it.
TEST_F(ScratchTest, sweeps_one_that_was_killed_half_made) {
  const auto make = [&](const std::string& name, const std::string& lock, time_t age) {
    const std::string folder = parent_ + "/.subako-scratch-" + name;
    std::filesystem::create_directory(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    std::ofstream(folder + "/lock") << lock;
    const timespec then{.tv_sec = time(nullptr) - age, .tv_nsec = 0};
    const std::array times{then, then};
    EXPECT_EQ(utimensat(AT_FDCWD, (folder + "/lock").c_str(), times.data(), 0), 0);
    return folder;
  };
  const std::string old = make("AAAAAA", "", 120);
  const std::string young = make("BBBBBB", "", 5);
  const std::string written = make("CCCCCC", "mine", 120);
  const std::string full = make("DDDDDD", "", 120);
  std::ofstream(full + "/file") << "x";
  auto scratch = Scratch::create(parent_);
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(young + "/lock"));
  EXPECT_TRUE(std::filesystem::exists(written + "/lock"));
  EXPECT_TRUE(std::filesystem::exists(full + "/lock"));
}

TEST_F(ScratchTest, leaves_the_living_and_what_is_not_a_scratch) {
  auto first = Scratch::create(parent_);
  std::filesystem::create_directory(parent_ + "/.subako-scratch-longer-name");
  std::filesystem::create_directory(parent_ + "/precious");
  std::ofstream(parent_ + "/precious/file") << "x";
  std::filesystem::create_symlink("precious", parent_ + "/.subako-scratch-linked");
  auto second = Scratch::create(parent_);
  EXPECT_TRUE(std::filesystem::exists(first->path()));
  EXPECT_TRUE(std::filesystem::exists(parent_ + "/.subako-scratch-longer-name"));
  EXPECT_TRUE(std::filesystem::exists(parent_ + "/.subako-scratch-linked"));
  EXPECT_TRUE(std::filesystem::exists(parent_ + "/precious/file"));
}

TEST_F(ScratchTest, a_full_folder_without_our_lock_is_never_touched) {
  // Copies of a true lock, each wrong in one way.
  std::string magic;
  {
    auto scratch = Scratch::create(parent_);
    std::ifstream lock(scratch->path() + "/lock");
    std::getline(lock, magic);
    ASSERT_FALSE(magic.empty());
  }
  const std::string base = parent_ + "/.subako-scratch-";
  const auto make = [](const std::string& folder, mode_t mode, const std::string& lock) {
    ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
    std::ofstream(folder + "/precious") << "x";
    if (!lock.empty()) std::ofstream(folder + "/lock") << lock;
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    // Older than any process: age proves nothing.
    const std::array<timespec, 2> old{timespec{1000, 0}, timespec{1000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, folder.c_str(), old.data(), 0), 0);
  };
  make(parent_ + "/subako-volume", 0700, "");
  make(base + "nolock", 0700, "");
  make(base + "others", 0700, "another program's\n");
  make(base + "shortm", 0700, magic.substr(0, magic.size() - 1));
  make(base + "opened", 0755, magic + "\n");
  make(base + "linked", 0700, "");
  std::ofstream(parent_ + "/elsewhere") << magic << "\n";
  std::filesystem::create_symlink("../elsewhere", base + "linked/lock");
  make(base + "fifolk", 0700, "");
  ASSERT_EQ(mkfifo((base + "fifolk/lock").c_str(), 0600), 0);
  make(base + "oldone", 0700, magic + "\n");  // in no way wrong: so the others are left for what is
  std::filesystem::create_directory(base + "empty1");

  auto scratch = Scratch::create(parent_);
  ASSERT_TRUE(scratch) << scratch.error().message;
  EXPECT_TRUE(std::filesystem::exists(parent_ + "/subako-volume/precious"));
  for (const char* name : {"nolock", "others", "shortm", "opened", "linked", "fifolk"})
    EXPECT_TRUE(std::filesystem::exists(base + name + "/precious")) << name;
  EXPECT_FALSE(std::filesystem::exists(base + "oldone"));
  EXPECT_FALSE(std::filesystem::exists(base + "empty1")) << "an empty one holds nothing to lose";
}

// What a child process of the test does with a limit on itself; false where it failed.
template <class Act>
bool in_a_child(const Act& act) {
  const pid_t pid = fork();
  if (pid == 0) _exit(act() ? 0 : 1);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(ScratchTest, leaves_nothing_where_its_lock_cannot_be_made) {
  EXPECT_TRUE(in_a_child([&] {
    (void)signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};
    return setrlimit(RLIMIT_FSIZE, &none) == 0 && !Scratch::create(parent_);
  })) << "no byte can be written";
  EXPECT_EQ(entries(), 0U);
  EXPECT_TRUE(in_a_child([&] {
    if (syscall(SYS_close_range, 3, ~0U, 0) != 0) {
      for (int fd = 3; fd < 1024; ++fd) close(fd);
    }
    const rlimit two_more{5, 5};  // the parent and the folder; then the lock has none
    const auto scratch =
        setrlimit(RLIMIT_NOFILE, &two_more) == 0 ? Scratch::create(parent_) : fail(Code::kInternal, "");
    return !scratch && scratch.error().message.starts_with("making the lock of ");
  })) << "no descriptor is left";
  EXPECT_EQ(entries(), 0U);
}

TEST_F(ScratchTest, names_the_folder_that_is_missing) {
  const auto scratch = Scratch::create(parent_ + "/absent");
  ASSERT_FALSE(scratch);
  EXPECT_EQ(scratch.error().message,
            "opening the folder for temporary files, " + parent_ +
                "/absent: No such file or directory; set TMPDIR to a folder that can be written to");
}

TEST_F(ScratchTest, removes_two_thousand_nested_folders) {
  auto scratch = Scratch::create(parent_);
  {
    auto folder = scratch->make_folder("volume");
    Fd at(dup(folder->fd()));
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(mkdirat(at.get(), "deeper", 0700), 0);
      at = Fd(openat(at.get(), "deeper", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      ASSERT_TRUE(at.valid());
    }
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch->path()), {}), 1) << "only the lock";
}

TEST_F(ScratchTest, removes_odd_names_permissions_and_links) {
  auto scratch = Scratch::create(parent_);
  std::ofstream(parent_ + "/outside") << "x";
  {
    auto folder = scratch->make_folder("volume");
    const std::string root = folder->path();
    for (const char* name : {"\xff\xfe", "new\nline", " ", "-rf", ".removing-0", "*"}) {
      ASSERT_EQ(mkdir((root + "/" + name).c_str(), 0700), 0);
      std::filesystem::create_directories(root + "/" + name + "/inner/most");
      std::ofstream(root + "/" + name + "/file") << "x";
    }
    std::filesystem::create_symlink(parent_, root + "/link-to-folder");
    std::filesystem::create_symlink("/nowhere", root + "/broken");
    ASSERT_EQ(mkfifo((root + "/fifo").c_str(), 0), 0);
    ASSERT_EQ(chmod((root + "/*/inner").c_str(), 0), 0);
    ASSERT_EQ(chmod((root + "/*").c_str(), 0), 0);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch->path()), {}), 1) << "only the lock";
  EXPECT_TRUE(std::filesystem::exists(parent_ + "/outside"));
}

TEST_F(ScratchTest, removes_more_files_than_are_held_in_memory) {
  auto scratch = Scratch::create(parent_);
  {
    auto folder = scratch->make_folder("volume");
    for (int i = 0; i < 10'000; ++i) {
      const Fd file(openat(folder->fd(), std::to_string(i).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
      ASSERT_TRUE(file.valid());
    }
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch->path()), {}), 1) << "only the lock";
}

}  // namespace
}  // namespace subako::core
