#include "base/machine_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/limits.h"

namespace subako {
namespace {

using limits::kMiB;

class MachineMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "machine_memory";
    std::filesystem::remove_all(root_);
    put("/proc/meminfo",
        "MemTotal:       24684236 kB\nMemFree:        19046400 kB\nMemAvailable:    1024000 kB\nBuffers: 1 "
        "kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::string root_;
};

TEST_F(MachineMemory, is_what_the_machine_has) {
  EXPECT_EQ(available_memory(root_), 1000 * kMiB);
  put("/proc/meminfo", "MemTotal: 1 kB\n");
  EXPECT_EQ(available_memory(root_), std::nullopt);
  EXPECT_EQ(available_memory(root_ + "/nowhere"), std::nullopt);
}

TEST_F(MachineMemory, is_less_in_a_group_of_version_2) {
  put("/proc/self/cgroup", "0::/system.slice/subako.service\n");
  const std::string slice = "/sys/fs/cgroup/system.slice";
  put(slice + "/subako.service/memory.max", "max\n");
  put(slice + "/subako.service/memory.current", "104857600\n");
  EXPECT_EQ(available_memory(root_), 1000 * kMiB) << "no limit";
  put(slice + "/subako.service/memory.max", std::to_string(400 * kMiB) + "\n");
  EXPECT_EQ(available_memory(root_), 300 * kMiB);
  put(slice + "/subako.service/memory.stat", "anon 1\nfile 2\ninactive_file 52428800\nactive_file 7\n");
  EXPECT_EQ(available_memory(root_), 350 * kMiB) << "of what is used, so much is cache";
  put(slice + "/memory.max", std::to_string(200 * kMiB));
  put(slice + "/memory.current", std::to_string(150 * kMiB));
  EXPECT_EQ(available_memory(root_), 50 * kMiB) << "the group above has less";
}

TEST_F(MachineMemory, is_less_in_a_group_of_version_1) {
  put("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/abc\n0::/\n");
  put("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", std::to_string(300 * kMiB));
  put("/sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", std::to_string(100 * kMiB));
  put("/sys/fs/cgroup/memory/docker/abc/memory.stat", "inactive_file 1\ntotal_inactive_file 1048576\n");
  EXPECT_EQ(available_memory(root_), 201 * kMiB);
  put("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(available_memory(root_), 1000 * kMiB);
}

TEST_F(MachineMemory, is_less_in_a_container_that_is_shown_its_own_group_as_the_root) {
  put("/proc/self/cgroup", "4:memory:/docker/abc\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(300 * kMiB));
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(100 * kMiB));
  EXPECT_EQ(available_memory(root_), 200 * kMiB);
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(400 * kMiB));
  EXPECT_EQ(available_memory(root_), 0U) << "over its limit";
}

TEST_F(MachineMemory, odd_text_is_no_limit) {
  put("/proc/self/cgroup", "\n:\nnonsense\n0::\n4:memory:\n4:memory:relative\n");
  put("/sys/fs/cgroup/memory.max", "-1\n");
  put("/sys/fs/cgroup/memory.current", "\n");
  EXPECT_EQ(available_memory(root_), 1000 * kMiB);
}

TEST_F(MachineMemory, this_machine_has_some) {
  EXPECT_GT(available_memory().value_or(0), 0U);
  EXPECT_GT(memory_maps_at_most().value_or(0), 0U);
}

}  // namespace
}  // namespace subako
