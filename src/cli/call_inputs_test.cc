#include "cli/call_inputs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/limits.h"

namespace subako::cli {
namespace {

class CallInputs : public testing::Test {
 protected:
  CallInputs() {
    std::string pattern = testing::TempDir() + "call-inputs-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~CallInputs() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(CallInputs, arguments_come_from_the_text_or_a_file) {
  EXPECT_EQ(*read_arguments(""), "");
  EXPECT_EQ(*read_arguments("{\"a\":1}"), "{\"a\":1}");
  std::ofstream(folder_ + "/arguments.json") << "{\"b\":2}\n";
  EXPECT_EQ(*read_arguments("@" + folder_ + "/arguments.json"), "{\"b\":2}\n");
  EXPECT_EQ(read_arguments("@" + folder_ + "/absent").error().code, Code::kNotFound);
  EXPECT_FALSE(read_arguments("@" + folder_));
}

TEST_F(CallInputs, an_endless_file_is_read_only_so_far) {  // spec: C10
  EXPECT_EQ(read_arguments("@/dev/zero").error().code, Code::kTooLarge);
  std::ofstream(folder_ + "/spaced.json") << std::string(limits::kArgumentsBytes * 2, ' ') << "{}";
  EXPECT_TRUE(read_arguments("@" + folder_ + "/spaced.json")) << "white space doesn't count";
}

TEST_F(CallInputs, skills_have_names_that_can_be_granted) {  // spec: F1
  const auto skills = open_skills({"pdf=" + folder_, "a_b-9=" + folder_});
  ASSERT_TRUE(skills) << skills.error().message;
  EXPECT_EQ(skills->at(1).name, "a_b-9");
  for (const std::string& given :
       {"pdf" + folder_, "=" + folder_, "PDF=" + folder_, "a/b=" + folder_, "..=" + folder_,
        std::string(65, 'a') + "=" + folder_, "pdf=" + folder_ + "/absent"}) {
    EXPECT_FALSE(open_skills({given})) << given;
  }
  EXPECT_EQ(open_skills({"pdf=" + folder_, "pdf=" + folder_}).error().message, "two skills are called pdf");
}

TEST_F(CallInputs, a_named_volume_is_made_and_kept) {  // spec: F1
  auto scratch = core::Scratch::create(folder_);
  const std::string path = folder_ + "/volume";
  for (int time = 0; time < 2; ++time) {
    const auto volume = open_volume(path, true, *scratch, nullptr);
    ASSERT_TRUE(volume) << volume.error().message;
    EXPECT_TRUE(volume->trees.volume->tmp().valid() && volume->trees.volume->data().valid());
  }
  EXPECT_TRUE(std::filesystem::is_directory(path + "/tmp"));
  EXPECT_TRUE(std::filesystem::is_directory(path + "/data"));
}

TEST_F(CallInputs, a_temporary_volume_goes_away) {
  auto scratch = core::Scratch::create(folder_);
  std::string path;
  {
    const auto volume = open_volume(std::nullopt, false, *scratch, nullptr);
    ASSERT_TRUE(volume);
    EXPECT_FALSE(volume->trees.volume->data().valid());
    path = volume->temporary->path();
    ASSERT_EQ(mkdirat(volume->trees.volume->tmp().get(), "made", 0700), 0);
    EXPECT_TRUE(std::filesystem::is_directory(path + "/made"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  const auto both = open_volume(std::nullopt, true, *scratch, nullptr);
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->trees.volume->tmp().valid() && both->trees.volume->data().valid());
  EXPECT_TRUE(std::filesystem::is_directory(both->temporary->path() + "/tmp"));
  EXPECT_TRUE(std::filesystem::is_directory(both->temporary->path() + "/data"));
}

TEST_F(CallInputs, a_volume_whose_tree_is_a_link_is_refused) {  // spec: F2
  auto scratch = core::Scratch::create(folder_);
  std::filesystem::create_directory(folder_ + "/volume");
  std::filesystem::create_directory_symlink("/", folder_ + "/volume/tmp");
  EXPECT_FALSE(open_volume(folder_ + "/volume", false, *scratch, nullptr));
}

}  // namespace
}  // namespace subako::cli
