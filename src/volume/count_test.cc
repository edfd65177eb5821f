#include "volume/count.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

#include "volume/scratch_test.h"

namespace subako::volume {
namespace {

const std::function<bool()> kGoOn = [] { return false; };

class Count : public ::testing::Test {
 protected:
  Count() {
    scratch_.directory("tmp");
    scratch_.directory("data");
  }
  ~Count() override {
    if (deep_) remove_deep();
  }
  Result<Counts> count(const std::function<bool()>& give_up = kGoOn) {
    const Fd tmp = scratch_.open("tmp");
    const Fd data = scratch_.open("data");
    return count_trees(std::array{tmp.get(), data.get()}, give_up);
  }
  // Folders within folders, deeper than a path can be.
  void make_deep(int depth) {
    deep_ = true;
    Fd here = scratch_.open("tmp");
    for (int i = 0; i < depth; ++i) {
      ASSERT_EQ(::mkdirat(here.get(), "d", 0700), 0);
      const Fd file(::openat(here.get(), "zz", O_WRONLY | O_CREAT, 0600));
      ASSERT_EQ(::ftruncate(file.get(), 1), 0);
      ASSERT_EQ(::mkdirat(here.get(), "e", 0700), 0);
      here = Fd(::openat(here.get(), "d", O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
  }
  void remove_deep() const {
    const std::string command = "rm -rf " + scratch_.at("tmp").string();
    EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c): it knows how to, of any depth
  }

  Scratch scratch_;
  bool deep_ = false;
};

TEST_F(Count, counts_every_name_and_the_sizes_of_regular_files) {  // spec: F5
  EXPECT_EQ(*count(), Counts{});
  scratch_.file("tmp/a", "12345");
  scratch_.file("data/.hidden", "12");
  scratch_.directory("data/folder/inner");
  scratch_.link("data/folder/link", "a-target-that-is-long");
  scratch_.link("data/folder/out", "/etc");
  ASSERT_EQ(::mkfifo(scratch_.at("tmp/pipe").c_str(), 0600), 0);
  std::filesystem::resize_file(scratch_.at("tmp/a"), 5'000'000'000);
  EXPECT_EQ(*count(), (Counts{5'000'000'002, 7}));
}

TEST_F(Count, a_file_of_several_names_counts_once_and_each_of_its_names) {  // spec: F5
  scratch_.file("tmp/a", "12345");
  std::filesystem::create_hard_link(scratch_.at("tmp/a"), scratch_.at("tmp/b"));
  std::filesystem::create_hard_link(scratch_.at("tmp/a"), scratch_.at("data/c"));
  EXPECT_EQ(*count(), (Counts{5, 3}));
}

TEST_F(Count, any_depth_takes_a_bounded_number_of_descriptors) {  // spec: F5
  constexpr int kDepth = 3000;
  make_deep(kDepth);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = static_cast<rlim_t>(open_descriptors()) + 40, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto counted = count();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(*counted, (Counts{kDepth, 3 * kDepth}));
}

TEST_F(Count, many_in_one_folder) {
  for (int i = 0; i < 3000; ++i) {
    const std::string name = "tmp/a-name-that-is-not-short-" + std::to_string(i);
    i % 3 == 0 ? scratch_.directory(name) : scratch_.file(name, "x");
  }
  EXPECT_EQ(*count(), (Counts{2000, 3000}));
}

TEST_F(Count, is_given_up_when_nobody_wants_it) {
  scratch_.directory("tmp/a/b/c");
  int asked = 0;
  const auto counted = count([&] { return ++asked == 3; });
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().code, Code::kCancelled);
  EXPECT_EQ(asked, 3);
}

TEST_F(Count, says_so_where_a_folder_was_moved_meanwhile) {
  make_deep(100);
  scratch_.directory("other");
  int asked = 0;
  const auto counted = count([&] {
    if (++asked == 80) std::filesystem::rename(scratch_.at("tmp/d/d/d"), scratch_.at("other/d"));
    return false;
  });
  ASSERT_FALSE(counted) << asked;
  EXPECT_EQ(counted.error().code, Code::kConflict);
}

TEST_F(Count, leaves_no_descriptor_open) {
  scratch_.directory("tmp/a/b/c");
  const long before = open_descriptors();
  EXPECT_TRUE(count());
  EXPECT_FALSE(count([] { return true; }));
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Count, a_folder_that_cannot_be_read_is_an_error) {
  const Fd file(::open(scratch_.at("plain").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const auto counted = count_trees(std::array{file.get()}, kGoOn);
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().message, "counting the Volume: a folder in it cannot be read: Not a directory");
}

}  // namespace
}  // namespace subako::volume
