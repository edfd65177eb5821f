// What stands still in the kernel is done elsewhere while the guest waits, and once only (spec: C12).
#include <fcntl.h>
#include <unistd.h>

#include <optional>

#include "base/limits.h"
#include "wasi/guest_test.h"

namespace subako::wasi {
namespace {

class BlockingWork : public Guest {
 protected:
  BlockingWork() {
    blocking.hold = true;
    disk.file("tmp/small", "hello");
    disk.file("data/other", "other");
  }
  // A file of holes: slow to free as far as anybody can tell by its size.
  void big(std::string_view name) {
    disk.file(name);
    std::filesystem::resize_file(disk.at(name), limits::kFreedAtOnceBytes + 1);
  }
  // The call waits for one task and answers `answer` once it is done.
  void waits_then(std::string_view function, const std::vector<uint64_t>& words, std::string_view answer) {
    ASSERT_EQ(call(function, words), "WAIT") << function;
    EXPECT_TRUE(host.wake().task);
    ASSERT_EQ(call(function, words), "WAIT") << function << ": asked again before it is done";
    ASSERT_EQ(blocking.held.size(), 1U) << function;
    blocking.run();
    EXPECT_EQ(call(function, words), answer) << function;
    EXPECT_TRUE(blocking.held.empty());
  }
  void waits_then(std::string_view function, uint64_t fd, std::string_view name, std::string_view answer) {
    path(name);
    waits_then(function, {fd, 1000, name.size()}, answer);
  }
};

TEST_F(BlockingWork, syncing_waits_for_a_task) {
  const uint64_t fd = opened("small", kReadWrite);
  for (const char* function : {"fd_sync", "fd_datasync"}) {
    waits_then(function, {fd}, "SUCCESS");
    waits_then(function, {kTmp}, "SUCCESS");
  }
  EXPECT_EQ(call("fd_sync", {kSkills}), "SUCCESS") << "there is nothing to sync";
}

TEST_F(BlockingWork, small_files_are_freed_at_once) {
  const uint64_t fd = opened("small", kReadWrite);
  EXPECT_EQ(call("fd_filestat_set_size", {fd, 1}), "SUCCESS");
  EXPECT_EQ(open("small", kReadWrite, kTrunc), "SUCCESS");
  EXPECT_EQ(two_paths("path_rename", kTmp, "small", kData, "other"), "SUCCESS");
  EXPECT_EQ(on_path("path_unlink_file", kData, "other"), "SUCCESS");
  EXPECT_EQ(call("fd_close", {fd}), "SUCCESS");
  EXPECT_EQ(blocking.done, 0);
}

TEST_F(BlockingWork, unlinking_a_big_file_takes_its_name_at_once_and_frees_it_elsewhere) {
  big("tmp/big");
  path("big");
  ASSERT_EQ(call("path_unlink_file", {kTmp, 1000, 3}), "WAIT");
  EXPECT_FALSE(disk.exists("tmp/big"));
  disk.file("tmp/big", "another of that name");
  blocking.run();
  EXPECT_EQ(call("path_unlink_file", {kTmp, 1000, 3}), "SUCCESS");
  EXPECT_TRUE(disk.exists("tmp/big")) << "it was removed once";
}

TEST_F(BlockingWork, what_is_still_linked_or_open_is_not_freed_yet) {
  big("tmp/big");
  std::filesystem::create_hard_link(disk.at("tmp/big"), disk.at("tmp/second"));
  EXPECT_EQ(on_path("path_unlink_file", kTmp, "big"), "SUCCESS");
  EXPECT_EQ(blocking.done, 0);
}

TEST_F(BlockingWork, renaming_over_a_big_file_frees_it_elsewhere) {
  big("data/other");
  path("small");
  path("other", 6000);
  waits_then("path_rename", {kTmp, 1000, 5, kData, 6000, 5}, "SUCCESS");
  EXPECT_EQ(disk.text("data/other"), "hello");
  EXPECT_FALSE(disk.exists("tmp/small"));
}

TEST_F(BlockingWork, a_new_file_is_not_cut_and_an_empty_one_is_as_if_written_to) {  // spec: F2
  clock.wall = 4'000'000'000'000'000'000;
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  disk.file("tmp/empty");
  ASSERT_EQ(::utimensat(AT_FDCWD, disk.at("tmp/empty").c_str(), old, 0), 0);
  EXPECT_EQ(open("empty", kReadWrite, kTrunc | kCreat), "SUCCESS");
  EXPECT_GT(disk.stat("tmp/empty").st_mtim.tv_sec, 1'000'000'000);
  EXPECT_EQ(disk.stat("tmp/empty").st_atim.tv_sec, 1000);
  disk.file("tmp/full", "full");
  ASSERT_EQ(::utimensat(AT_FDCWD, disk.at("tmp/full").c_str(), old, 0), 0);
  EXPECT_EQ(open("full", kRead, kTrunc), "SUCCESS");
  EXPECT_EQ(disk.stat("tmp/full").st_size, 0);
  EXPECT_GT(disk.stat("tmp/full").st_mtim.tv_sec, 1'000'000'000);
}

TEST_F(BlockingWork, closing_a_big_file_waits) {
  big("tmp/big");
  const uint64_t first = opened("big", kReadWrite);
  const uint64_t second = opened("small", kReadWrite);
  std::filesystem::remove(disk.at("tmp/big"));
  const long before = volume::open_descriptors();
  ASSERT_EQ(call("fd_renumber", {second, first}), "WAIT");
  EXPECT_EQ(volume::open_descriptors(), before) << "the task holds it";
  blocking.run();
  EXPECT_EQ(volume::open_descriptors(), before - 1);
  EXPECT_EQ(call("fd_renumber", {second, first}), "SUCCESS");
  EXPECT_EQ(read(first), "hello");

  big("tmp/big");
  const uint64_t third = opened("big", kReadWrite);
  std::filesystem::remove(disk.at("tmp/big"));
  waits_then("fd_close", {third}, "SUCCESS");
  EXPECT_EQ(call("fd_close", {third}), "BADF");
}

TEST_F(BlockingWork, cutting_much_off_waits_and_cutting_little_does_not) {
  big("tmp/big");
  const uint64_t fd = opened("big", kReadWrite);
  std::filesystem::resize_file(disk.at("tmp/big"), 2 * limits::kFreedAtOnceBytes);
  waits_then("fd_filestat_set_size", {fd, 1000}, "SUCCESS");
  EXPECT_EQ(disk.stat("tmp/big").st_size, 1000);
  EXPECT_EQ(call("fd_filestat_set_size", {fd, 10}), "SUCCESS");
  EXPECT_EQ(call("fd_filestat_set_size", {fd, limits::kMiB}), "SUCCESS") << "growing is quick";
  EXPECT_EQ(disk.stat("tmp/big").st_size, static_cast<off_t>(limits::kMiB));
}

TEST_F(BlockingWork, opening_a_big_file_to_empty_it_waits) {
  big("tmp/big");
  for (const uint64_t rights : {kReadWrite, kWrite, kRead}) {
    std::filesystem::resize_file(disk.at("tmp/big"), limits::kFreedAtOnceBytes + 1);
    ASSERT_EQ(open("big", rights, kTrunc), "WAIT");
    blocking.run();
    ASSERT_EQ(open("big", rights, kTrunc), "SUCCESS");
    EXPECT_EQ(disk.stat("tmp/big").st_size, 0);
  }
  std::filesystem::resize_file(disk.at("tmp/big"), limits::kFreedAtOnceBytes + 1);
  EXPECT_EQ(open("big", kReadWrite, kTrunc | kCreat | kExcl), "EXIST");
  disk.link("tmp/link", "big");
  EXPECT_EQ(open("link", kReadWrite, kTrunc), "LOOP");
  EXPECT_EQ(disk.stat("tmp/big").st_size, static_cast<off_t>(limits::kFreedAtOnceBytes + 1));
  ASSERT_EQ(open("link", kReadWrite, kTrunc, kTmp, 1), "WAIT");
  blocking.run();
  EXPECT_EQ(open("link", kReadWrite, kTrunc, kTmp, 1), "SUCCESS");
  EXPECT_EQ(disk.stat("tmp/big").st_size, 0);
}

TEST_F(BlockingWork, a_write_to_a_file_opened_for_synchronised_ones_waits_for_the_disk) {
  constexpr uint64_t kDsync = 2, kRsync = 8, kSync = 16;
  for (const uint64_t flag : {kDsync, kRsync, kSync}) {
    disk.file("tmp/small");
    const uint64_t fd = opened("small", kReadWrite, 0, kTmp, flag);
    EXPECT_EQ(call("fd_fdstat_get", {fd, 104}), "SUCCESS");
    EXPECT_EQ(get<Fdstat>(104).flags, flag);
    EXPECT_EQ(write(fd, "abc"), "WAIT");
    blocking.run();
    EXPECT_EQ(write(fd, "abc"), "SUCCESS");
    EXPECT_EQ(get<uint32_t>(100), 3U);
    iovec(200, 20000, 3);
    waits_then("fd_pwrite", {fd, 200, 1, 3, 104}, "SUCCESS");
    EXPECT_EQ(get<uint32_t>(104), 3U);
    EXPECT_EQ(disk.text("tmp/small"), "abcabc") << "each was written once";
    EXPECT_EQ(call("fd_tell", {fd, 104}), "SUCCESS");
    EXPECT_EQ(get<uint64_t>(104), 3U);
    EXPECT_EQ(write(fd, ""), "SUCCESS") << "nothing was written";
  }
}

TEST_F(BlockingWork, a_truncation_is_done_in_steps_and_never_makes_a_file_longer) {
  big("tmp/big");
  std::filesystem::resize_file(disk.at("tmp/big"), 3 * limits::kFreedAtOnceBytes + 5);
  const uint64_t fd = opened("big", kReadWrite);
  ASSERT_EQ(call("fd_filestat_set_size", {fd, 1000}), "WAIT");
  std::filesystem::resize_file(disk.at("tmp/big"), 10);  // somebody else's doing
  blocking.run();
  EXPECT_EQ(call("fd_filestat_set_size", {fd, 1000}), "SUCCESS");
  EXPECT_EQ(disk.stat("tmp/big").st_size, 10);
  EXPECT_EQ(host.budget().written(), 0U);
}

TEST_F(BlockingWork, emptying_is_of_the_file_that_was_opened) {
  big("tmp/big");
  ASSERT_EQ(open("big", kReadWrite, kTrunc), "WAIT");
  std::filesystem::rename(disk.at("tmp/small"), disk.at("tmp/big"));
  blocking.run();
  ASSERT_EQ(open("big", kReadWrite, kTrunc), "SUCCESS");
  EXPECT_EQ(disk.text("tmp/big"), "hello");
  EXPECT_EQ(read(get<uint32_t>(100)), "");
}

TEST_F(BlockingWork, writes_nothing_into_memory_before_it_is_done) {  // spec: F2
  constexpr uint64_t kSync = 16;
  const uint64_t fd = opened("small", kReadWrite, 0, kTmp, kSync);
  std::memcpy(&memory.at(20000), "abc", 3);
  iovec(200, 20000, 3);
  iovec(208, 0xffffff00, 0);  // empty, and anywhere
  // The count goes over the second length: told too early, it would make a wild list of it.
  ASSERT_EQ(call("fd_write", {fd, 200, 2, 212}), "WAIT");
  EXPECT_EQ(get<uint32_t>(212), 0U);
  blocking.run();
  EXPECT_EQ(call("fd_write", {fd, 200, 2, 212}), "SUCCESS");
  EXPECT_EQ(get<uint32_t>(212), 3U);
  EXPECT_EQ(disk.text("tmp/small"), "abclo");
}

TEST_F(BlockingWork, a_task_that_fails_is_the_guests_errno) {
  const uint64_t fd = opened("small");
  host.begin_work([](const auto&) { return std::errc::no_space_on_device; });
  EXPECT_EQ(call("fd_sync", {fd}), "WAIT");
  blocking.run();
  EXPECT_EQ(call("fd_sync", {fd}), "NOSPC");
  waits_then("fd_sync", {fd}, "SUCCESS");
}

// A second guest of /volume/tmp, with descriptors from 3 on, that ends when the test says so.
class AnotherGuest : public BlockingWork {
 protected:
  void other_begins() {
    others_tasks.hold = true;
    other.emplace(World{.preopens = {{"/volume/tmp", true}}}, clock, others_stdio, others_tasks);
    other->bind(0, disk.open("tmp"));
  }
  std::string ask_other(std::string_view name, const std::vector<uint64_t>& words) {
    return shown(abi::find(imports(), name)->call(&*other, abi::GuestMemory(memory), words));
  }
  void other_opens(std::string_view name) {
    path(name);
    ASSERT_EQ(ask_other("path_open", {3, 0, 1000, name.size(), 0, kReadWrite, 0, 0, 100}), "SUCCESS");
  }

  StringStdio others_stdio;
  HeldTasks others_tasks;
  std::optional<Host> other;
};

TEST_F(AnotherGuest, a_guest_that_ends_leaves_its_files_to_be_freed_and_its_work_undone) {
  const long before = volume::open_descriptors();
  other_begins();
  big("tmp/big");
  big("tmp/cut");
  other_opens("big");
  other_opens("cut");
  std::filesystem::remove(disk.at("tmp/big"));
  ASSERT_EQ(ask_other("fd_filestat_set_size", {5, 0}), "WAIT");
  other.reset();
  EXPECT_EQ(others_tasks.held.size(), 2U) << "the one it waited for, and what is to be closed";
  EXPECT_EQ(volume::open_descriptors(), before + 2);
  others_tasks.run();
  EXPECT_EQ(volume::open_descriptors(), before);
  EXPECT_NE(disk.stat("tmp/cut").st_size, 0) << "nobody waited for it any more";
}

TEST_F(AnotherGuest, many_small_files_without_a_name_are_slow_to_free_together) {
  const long before = volume::open_descriptors();
  other_begins();
  for (int i = 0; i < 5; ++i) {
    disk.file("tmp/one");
    std::filesystem::resize_file(disk.at("tmp/one"), limits::kFreedAtOnceBytes / 4);
    other_opens("one");
    std::filesystem::remove(disk.at("tmp/one"));
  }
  other.reset();
  ASSERT_EQ(others_tasks.held.size(), 1U);
  EXPECT_EQ(volume::open_descriptors(), before + 5);
  others_tasks.run();
  EXPECT_EQ(volume::open_descriptors(), before);
}

}  // namespace
}  // namespace subako::wasi
