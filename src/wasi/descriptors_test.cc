#include "base/few_descriptors_test.h"
#include "wasi/guest_test.h"

namespace subako::wasi {
namespace {

class DescriptorTable : public Guest {
 protected:
  DescriptorTable() { disk.file("tmp/file", "hello"); }
  Fdstat fdstat(uint64_t fd) {
    EXPECT_EQ(call("fd_fdstat_get", {fd, 104}), "SUCCESS");
    return get<Fdstat>(104);
  }
};

TEST_F(DescriptorTable, preopens_are_found_by_scanning_from_3) {  // spec: F1
  std::string names;
  uint64_t fd = 3;
  for (; call("fd_prestat_get", {fd, 104}) == "SUCCESS"; ++fd) {
    const auto prestat = get<Prestat>(104);
    EXPECT_EQ(prestat.tag, 0);
    EXPECT_EQ(call("fd_prestat_dir_name", {fd, 20000, prestat.name_length}), "SUCCESS");
    names += text(20000, prestat.name_length) + " ";
  }
  EXPECT_EQ(names, "/volume/tmp /volume/data /package /skills /skills/a /skills/b ");
  EXPECT_EQ(call("fd_prestat_get", {fd, 104}), "BADF");
  EXPECT_EQ(call("fd_prestat_get", {0, 104}), "BADF");
}

TEST_F(DescriptorTable, a_preopens_name_fits_or_is_too_long) {
  put(20000, "############", 12);
  EXPECT_EQ(call("fd_prestat_dir_name", {kTmp, 20000, 10}), "NAMETOOLONG");
  EXPECT_EQ(call("fd_prestat_dir_name", {kTmp, 20000, 12}), "SUCCESS");
  EXPECT_EQ(text(20000, 12), "/volume/tmp#");
}

TEST_F(DescriptorTable, only_preopens_have_a_prestat) {
  EXPECT_EQ(call("fd_prestat_get", {opened("file"), 104}), "BADF");
  EXPECT_EQ(call("fd_prestat_get", {opened(".", 0, kDirectory), 104}), "BADF");
}

TEST_F(DescriptorTable, the_lowest_free_number_is_given) {  // spec: F6
  EXPECT_EQ(opened("file"), 9U);
  EXPECT_EQ(opened("file"), 10U);
  EXPECT_EQ(call("fd_close", {9}), "SUCCESS");
  EXPECT_EQ(call("fd_close", {9}), "BADF");
  EXPECT_EQ(opened("file"), 9U);
  EXPECT_EQ(call("fd_close", {0}), "SUCCESS");
  EXPECT_EQ(opened("file"), 0U);
}

TEST_F(DescriptorTable, holds_1024_and_makes_nothing_past_that) {  // spec: F6
  for (int i = 0; i < 1024 - 9; ++i) ASSERT_EQ(open("file"), "SUCCESS") << i;
  const long before = volume::open_descriptors();
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(open("new", kReadWrite, kCreat), "MFILE");
  EXPECT_EQ(volume::open_descriptors(), before);
  EXPECT_FALSE(disk.exists("tmp/new"));
  EXPECT_EQ(call("fd_close", {500}), "SUCCESS");
  EXPECT_EQ(opened("new", kReadWrite, kCreat), 500U);
}

TEST_F(DescriptorTable, opening_and_closing_leaks_nothing) {
  const long before = volume::open_descriptors();
  for (int i = 0; i < 2000; ++i) {
    const uint64_t fd = opened("file", kReadWrite);
    ASSERT_EQ(fd, 9U);
    ASSERT_EQ(write(fd, "hel"), "SUCCESS");
    ASSERT_EQ(read(fd), "lo");
    ASSERT_EQ(call("fd_close", {fd}), "SUCCESS");
    ASSERT_EQ(open("nothing"), "NOENT");
    path("file");
    ASSERT_NE(call("path_open", {kTmp, 0, 1000, 4, 0, 2, 0, 0, 65534}), "SUCCESS");
  }
  EXPECT_EQ(volume::open_descriptors(), before);
}

TEST_F(DescriptorTable, a_process_out_of_descriptors_is_mfile_until_one_is_closed) {  // spec: F6
  const long before = volume::open_descriptors();
  const FewDescriptors few(256);
  std::vector<uint64_t> held;
  std::string answer;
  while ((answer = open("file")) == "SUCCESS" && held.size() < 1000) held.push_back(get<uint32_t>(100));
  EXPECT_EQ(answer, "MFILE");
  EXPECT_GT(held.size(), 100U);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(open("new", kReadWrite, kCreat), "MFILE");
  EXPECT_FALSE(disk.exists("tmp/new"));
  EXPECT_EQ(call("fd_close", {held[50]}), "SUCCESS");
  EXPECT_EQ(opened("file"), held[50]);
  EXPECT_EQ(read(held[50]), "hello");
  for (const uint64_t fd : held) EXPECT_EQ(call("fd_close", {fd}), "SUCCESS");
  EXPECT_EQ(volume::open_descriptors(), before);
}

TEST_F(DescriptorTable, renumbering_closes_its_target) {
  const long before = volume::open_descriptors();
  const FewDescriptors few(256);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t a = opened("file");
    const uint64_t b = opened("file");
    ASSERT_EQ(call("fd_renumber", {a, b}), "SUCCESS");
    ASSERT_EQ(call("fd_close", {b}), "SUCCESS");
    ASSERT_EQ(call("fd_close", {a}), "BADF");
  }
  EXPECT_EQ(volume::open_descriptors(), before);
}

TEST_F(DescriptorTable, renumbering_needs_two_open_numbers) {  // spec: F6
  EXPECT_EQ(call("fd_renumber", {3, 99}), "BADF");
  EXPECT_EQ(call("fd_renumber", {3, 103}), "BADF");
  EXPECT_EQ(call("fd_renumber", {3, 127}), "BADF");
  EXPECT_EQ(call("fd_renumber", {3, 0xffffffffU}), "BADF");
  EXPECT_EQ(call("fd_renumber", {99, 3}), "BADF");
  EXPECT_EQ(call("fd_renumber", {3, 3}), "SUCCESS");
  EXPECT_EQ(call("fd_renumber", {0, 0}), "SUCCESS");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(open("file"), "SUCCESS");
}

TEST_F(DescriptorTable, streams_and_preopens_move_like_any_other) {
  const uint64_t file = opened("file");
  EXPECT_EQ(call("fd_renumber", {1, file}), "SUCCESS");
  EXPECT_EQ(write(file, "out"), "SUCCESS");
  EXPECT_EQ(stdio.output, "out");
  EXPECT_EQ(write(1, "x"), "BADF");
  const uint64_t directory = opened(".", 0, kDirectory, kData);
  EXPECT_EQ(call("fd_renumber", {directory, kTmp}), "SUCCESS");
  EXPECT_EQ(call("fd_prestat_get", {kTmp, 104}), "BADF");
  EXPECT_EQ(open("n", kReadWrite, kCreat, kTmp), "SUCCESS");
  EXPECT_TRUE(disk.exists("data/n"));
}

TEST_F(DescriptorTable, streams_are_of_unknown_type_and_cannot_seek) {  // spec: F2
  for (const uint64_t fd : {0U, 1U, 2U}) {
    const Fdstat stat = fdstat(fd);
    EXPECT_EQ(stat.filetype, FileType::kUnknown);
    EXPECT_EQ(stat.base & (Rights::kFdSeek | Rights::kFdTell), Rights::kNone);
    EXPECT_EQ(call("fd_seek", {fd, 0, 1, 104}), "SPIPE");
    EXPECT_EQ(call("fd_tell", {fd, 104}), "SPIPE");
    EXPECT_EQ(call("fd_pread", {fd, 200, 0, 0, 104}), "SPIPE");
    EXPECT_EQ(call("fd_pwrite", {fd, 200, 0, 0, 104}), "SPIPE");
    EXPECT_EQ(call("fd_filestat_get", {fd, 104}), "SUCCESS");
    const auto state = get<Filestat>(104);
    EXPECT_EQ(state.size | state.accessed | state.modified | state.changed | state.device | state.inode, 0U);
    for (const char* function : {"fd_sync", "fd_datasync"}) EXPECT_EQ(call(function, {fd}), "BADF");
    EXPECT_EQ(call("fd_allocate", {fd, 0, 1}), "BADF");
    EXPECT_EQ(call("fd_advise", {fd, 0, 0, 0}), "BADF");
    EXPECT_EQ(call("fd_filestat_set_size", {fd, 0}), "BADF");
    EXPECT_EQ(call("fd_filestat_set_times", {fd, 0, 0, 0}), "BADF");
    EXPECT_EQ(call("fd_readdir", {fd, 1000, 100, 0, 104}), "BADF");
  }
}

TEST_F(DescriptorTable, moving_nothing_needs_a_fit_descriptor_too) {  // spec: F2
  const uint64_t reads = opened("file", kRead);
  const uint64_t writes = opened("file", kWrite);
  const uint64_t directory = opened(".", 0, kDirectory);
  for (const uint64_t fd : {uint64_t{0}, reads, directory, kTmp}) {
    EXPECT_EQ(call("fd_write", {fd, 200, 0, 104}), "BADF") << fd;
    EXPECT_EQ(write(fd, ""), "BADF") << fd;
  }
  for (const uint64_t fd : {uint64_t{1}, writes, directory, kTmp}) {
    EXPECT_EQ(call("fd_read", {fd, 200, 0, 104}), "BADF") << fd;
    EXPECT_EQ(read(fd, 0), "BADF") << fd;
  }
  EXPECT_EQ(call("fd_pwrite", {reads, 200, 0, 0, 104}), "BADF");
  EXPECT_EQ(call("fd_pread", {writes, 200, 0, 0, 104}), "BADF");
  EXPECT_EQ(write(writes, ""), "SUCCESS");
  EXPECT_EQ(get<uint32_t>(100), 0U);
  EXPECT_EQ(read(reads, 0), "");
}

TEST_F(DescriptorTable, files_operations_are_refused_on_directories) {
  EXPECT_EQ(call("fd_read", {kTmp, 200, 0, 104}), "BADF");
  EXPECT_EQ(call("fd_write", {kTmp, 200, 0, 104}), "BADF");
  EXPECT_EQ(call("fd_pread", {kTmp, 200, 0, 0, 104}), "BADF");
  EXPECT_EQ(call("fd_pwrite", {kTmp, 200, 0, 0, 104}), "BADF");
  for (const uint64_t whence : {0U, 1U, 2U}) EXPECT_EQ(call("fd_seek", {kTmp, 0, whence, 104}), "BADF");
  EXPECT_EQ(call("fd_tell", {kTmp, 104}), "BADF");
  EXPECT_EQ(call("fd_allocate", {kTmp, 0, 1}), "BADF");
  EXPECT_EQ(call("fd_advise", {kTmp, 0, 0, 0}), "BADF");
  EXPECT_EQ(call("fd_filestat_set_size", {kTmp, 0}), "BADF");
  EXPECT_EQ(call("fd_fdstat_set_flags", {kTmp, kAppend}), "BADF");
  EXPECT_EQ(call("fd_sync", {kTmp}), "SUCCESS");
  EXPECT_EQ(call("fd_datasync", {kSkills}), "SUCCESS");
}

TEST_F(DescriptorTable, a_file_shows_the_rights_it_was_opened_with) {  // spec: F2
  EXPECT_EQ(fdstat(opened("file", kRead)).base & Rights::kFdWrite, Rights::kNone);
  EXPECT_EQ(fdstat(opened("file", kWrite)).base & Rights::kFdRead, Rights::kNone);
  const Fdstat both = fdstat(opened("file", kReadWrite));
  EXPECT_TRUE(has(both.base, Rights::kFdRead | Rights::kFdWrite | Rights::kFdSeek));
  EXPECT_EQ(both.filetype, FileType::kRegular);
  const uint64_t none = opened("file", 0);
  EXPECT_EQ(read(none), "BADF");
  EXPECT_EQ(write(none, "x"), "BADF");
  EXPECT_EQ(write(opened("file", kRead), ""), "BADF");
}

TEST_F(DescriptorTable, a_directory_shows_no_rights_of_files) {
  for (const uint64_t fd : {kTmp, kPackage, kSkills, opened("dir/..", kRead, kDirectory | 0, [this] {
                              disk.directory("tmp/dir");
                              return kTmp;
                            }())}) {
    const Fdstat stat = fdstat(fd);
    EXPECT_EQ(stat.filetype, FileType::kDirectory);
    EXPECT_EQ(stat.base & (Rights::kFdSeek | Rights::kFdFilestatSetSize | Rights::kFdRead | Rights::kFdWrite),
              Rights::kNone);
    EXPECT_EQ(stat.base, kDirectoryRights);
    EXPECT_EQ(stat.inheriting, kInheritingRights);
    // What it shows, it can be opened with.
    EXPECT_EQ(open(".", static_cast<uint64_t>(stat.base), 0, fd), "SUCCESS");
  }
}

TEST_F(DescriptorTable, rights_only_shrink_and_then_count) {
  const uint64_t file = opened("file", kReadWrite);
  const auto base = static_cast<uint64_t>(fdstat(file).base);
  EXPECT_EQ(call("fd_fdstat_set_rights", {file, base, 0}), "SUCCESS");
  EXPECT_EQ(call("fd_fdstat_set_rights", {file, base & ~kWrite, 0}), "SUCCESS");
  EXPECT_EQ(write(file, "x"), "BADF");
  EXPECT_EQ(read(file), "hello");
  EXPECT_EQ(call("fd_fdstat_set_rights", {file, base, 0}), "NOTCAPABLE");
  EXPECT_EQ(call("fd_fdstat_set_rights", {file, kRead, kRead}), "NOTCAPABLE");
  EXPECT_EQ(call("fd_fdstat_set_rights", {file, uint64_t{1} << 30U, 0}), "INVAL");
  EXPECT_EQ(call("fd_fdstat_set_rights", {file, 0, 0}), "SUCCESS");
  EXPECT_EQ(call("fd_seek", {file, 0, 0, 104}), "NOTCAPABLE");
  EXPECT_EQ(call("fd_filestat_get", {file, 104}), "NOTCAPABLE");
  EXPECT_EQ(call("fd_sync", {file}), "NOTCAPABLE");

  const Fdstat directory = fdstat(kTmp);
  const auto without_truncation = without(directory.base, Rights::kPathFilestatSetSize);
  EXPECT_EQ(open("file", 0, kTrunc), "SUCCESS");
  EXPECT_EQ(call("fd_fdstat_set_rights", {kTmp, static_cast<uint64_t>(without_truncation), kRead}),
            "SUCCESS");
  EXPECT_EQ(open("file", 0, kTrunc), "NOTCAPABLE");
  EXPECT_EQ(open("file", kWrite), "NOTCAPABLE");
  EXPECT_EQ(fdstat(opened("file", kRead)).base, Rights::kFdRead);
  EXPECT_EQ(open("x", kRead, kCreat, opened(".", 0, kDirectory)), "NOTCAPABLE");
}

TEST_F(DescriptorTable, flags_change_as_with_fcntl) {  // spec: F2
  const uint64_t file = opened("file", kReadWrite, 0, kTmp, 16);
  EXPECT_EQ(fdstat(file).flags, 16);
  EXPECT_EQ(call("fd_fdstat_set_flags", {file, kAppend}), "SUCCESS");
  EXPECT_EQ(fdstat(file).flags, 16 | kAppend);
  EXPECT_EQ(call("fd_fdstat_set_flags", {file, 16 | kNonblock}), "SUCCESS");
  EXPECT_EQ(fdstat(file).flags, 16 | kNonblock);
  EXPECT_EQ(call("fd_fdstat_set_flags", {file, 2}), "NOTSUP");
  EXPECT_EQ(call("fd_fdstat_set_flags", {file, 32}), "INVAL");
  EXPECT_EQ(call("fd_fdstat_set_flags", {file, 0x10000}), "INVAL");
  EXPECT_EQ(call("fd_advise", {file, 0, 0, 6}), "INVAL");
  EXPECT_EQ(call("fd_advise", {file, ~uint64_t{0}, 0, 0}), "INVAL");
}

}  // namespace
}  // namespace subako::wasi
