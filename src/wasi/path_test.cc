#include <cstdio>
#include <thread>

#include "wasi/filestat.h"
#include "wasi/guest_test.h"

namespace subako::wasi {
namespace {

class Paths : public Guest {
 protected:
  Paths() {
    disk.directory("tmp/dir/nested");
    disk.directory("out");
    disk.file("out/secret", "secret");
    disk.file("tmp/file", "hello");
    disk.link("tmp/esc", "../out");
    disk.link("tmp/abs", disk.at("out").string());
    disk.link("tmp/in", "dir");
    disk.link("tmp/lf", "file");
    disk.link("tmp/loop", "loop");
    disk.link("tmp/self", ".");
    disk.link("package/lnk", "f");
    ::mkfifo(disk.at("tmp/fifo").c_str(), 0600);
  }
};

struct Row {
  std::string path;
  std::string answer;
};

TEST_F(Paths, opening_answers_as_the_reference_host) {  // spec: F2
  for (const Row& row : {Row{"file", "SUCCESS"},
                         Row{"../out/secret", "PERM"},
                         Row{"/etc/passwd", "PERM"},
                         Row{"", "NOENT"},
                         Row{".", "SUCCESS"},
                         Row{"..", "PERM"},
                         Row{"dir/../file", "SUCCESS"},
                         Row{"dir/../../out/secret", "PERM"},
                         Row{"esc/secret", "PERM"},
                         Row{"esc", "LOOP"},
                         Row{"esc/", "PERM"},
                         Row{"abs/passwd", "PERM"},
                         Row{"in", "LOOP"},
                         Row{"in/", "SUCCESS"},
                         Row{"lf/", "NOTDIR"},
                         Row{"file/", "NOTDIR"},
                         Row{"file/.", "NOTDIR"},
                         Row{"dir/", "SUCCESS"},
                         Row{"loop", "LOOP"},
                         Row{std::string("a\0b", 3), "INVAL"},
                         Row{"\xff\xfe", "ILSEQ"},
                         Row{std::string(300, 'x'), "NAMETOOLONG"},
                         Row{std::string(4096, 'y'), "NAMETOOLONG"},
                         Row{std::string(40000, 'y'), "NAMETOOLONG"},
                         Row{"self/self/../../x", "PERM"},
                         Row{"fifo", "NOTSUP"},
                         Row{"fifo/", "NOTDIR"},
                         Row{"nothing", "NOENT"}}) {
    EXPECT_EQ(open(row.path), row.answer) << row.path;
  }
  for (const Row& row :
       {Row{"esc", "PERM"}, Row{"esc/", "PERM"}, Row{"esc/secret", "PERM"}, Row{"abs/secret", "PERM"},
        Row{"in", "SUCCESS"}, Row{"lf", "SUCCESS"}, Row{"loop", "LOOP"}}) {
    EXPECT_EQ(open(row.path, kRead, 0, kTmp, 1), row.answer) << row.path;
  }
}

TEST_F(Paths, every_way_of_opening_a_link_outwards_is_refused) {  // spec: F2
  for (const std::string path :
       {"esc/secret", "esc/new", "abs/secret", "../out/secret", "esc/../out/secret"}) {
    for (const uint64_t oflags : {0U, 1U, 2U, 5U, 8U, 9U, 13U}) {
      for (const uint64_t rights : {0U, 2U, 64U, 66U}) {
        for (const uint64_t follow : {0U, 1U}) {
          EXPECT_EQ(open(path, rights, oflags, kTmp, follow), "PERM") << path << oflags << rights << follow;
        }
      }
    }
  }
  EXPECT_EQ(disk.text("out/secret"), "secret");
  EXPECT_FALSE(disk.exists("out/new"));
}

TEST_F(Paths, a_link_to_a_file_outside_is_neither_opened_nor_made_through) {  // spec: F2
  disk.link("tmp/there", "../out/secret");
  disk.link("tmp/not_there", "../out/new");
  for (const std::string path : {"there", "not_there"}) {
    for (const uint64_t oflags : {0U, 1U, 2U, 5U, 8U, 9U, 13U}) {
      for (const uint64_t rights : {0U, 2U, 64U, 66U}) {
        for (const uint64_t follow : {0U, 1U}) {
          const std::string answer = open(path, rights, oflags, kTmp, follow);
          EXPECT_TRUE(answer == "PERM" || answer == "LOOP" || answer == "EXIST" || answer == "NOTDIR")
              << answer << " " << path << oflags << rights << follow;
        }
      }
    }
  }
  EXPECT_EQ(disk.text("out/secret"), "secret");
  EXPECT_FALSE(disk.exists("out/new"));
}

TEST_F(Paths, a_renamer_cannot_smuggle_a_guest_out) {  // spec: F2
  // "d" is by turns a directory with a harmless secret and a link to the outside.
  disk.directory("tmp/d");
  disk.file("tmp/d/secret", "fine");
  disk.link("tmp/swapped", "../out");
  const std::jthread renamer([this](const std::stop_token& stop) {
    const std::string d = disk.at("tmp/d");
    const std::string swapped = disk.at("tmp/swapped");
    while (!stop.stop_requested()) {
      ::renameat2(AT_FDCWD, d.c_str(), AT_FDCWD, swapped.c_str(), RENAME_EXCHANGE);
    }
  });
  int inside = 0;
  int refused = 0;
  for (int turn = 0; turn < 100'000; ++turn) {
    const std::string answer = open("d/secret", kRead, 0, kTmp, 1);
    if (answer != "SUCCESS") {
      refused += answer == "PERM" ? 1 : 0;
      continue;
    }
    ++inside;
    const uint64_t fd = get<uint32_t>(100);
    const std::string text = read(fd);
    (void)call("fd_close", {fd});
    if (text == "fine") continue;
    ADD_FAILURE() << "read \"" << text << "\" in turn " << turn;
    break;
  }
  EXPECT_GT(inside, 1000) << "the directory was hardly ever met";
  EXPECT_GT(refused, 1000) << "the link was hardly ever met";
}

TEST_F(Paths, open_flags_mean_what_they_do_on_the_reference_host) {  // spec: F2
  EXPECT_EQ(open("nd", kRead, kCreat | kDirectory), "INVAL");
  EXPECT_EQ(open("file", kRead, kDirectory), "NOTDIR");
  EXPECT_EQ(open("dir", kRead, kDirectory | kTrunc), "INVAL");
  EXPECT_EQ(open("dir", kRead, kDirectory | kExcl), "INVAL");
  EXPECT_EQ(open("file", kRead, kExcl), "SUCCESS");
  EXPECT_EQ(open("file", kRead, kCreat | kExcl), "EXIST");
  EXPECT_EQ(open("dir", kRead, kCreat), "ISDIR");
  EXPECT_EQ(open("dir", kRead, kTrunc), "ISDIR");
  EXPECT_EQ(open("dir", kReadWrite), "ISDIR");
  EXPECT_EQ(open(".", kReadWrite, kDirectory), "ISDIR");
  EXPECT_EQ(open("new/", kRead, kCreat), "ISDIR");
  EXPECT_EQ(open("file/x", kRead, kCreat), "NOTDIR");
  EXPECT_EQ(open(".", 0, 0, kTmp, 0, kNonblock), "SUCCESS");
  EXPECT_EQ(open("in", 0, kDirectory), "NOTDIR");
  for (const uint64_t rights : {kRead, kWrite, kReadWrite}) {
    EXPECT_EQ(open("fifo", rights), "NOTSUP") << rights;
  }
}

TEST_F(Paths, unknown_flags_are_invalid) {  // spec: F2
  EXPECT_EQ(open("file", kRead, 16), "INVAL");
  EXPECT_EQ(open("file", kRead, 0x10000), "INVAL");
  EXPECT_EQ(open("file", kRead, 0, kTmp, 0, 32), "INVAL");
  EXPECT_EQ(open("file", uint64_t{1} << 40U), "INVAL");
  EXPECT_EQ(open("file", kRead, 0, kTmp, 2), "INVAL");
  path("file");
  EXPECT_EQ(call("path_filestat_get", {kTmp, 2, 1000, 4, 104}), "INVAL");
  EXPECT_EQ(call("path_filestat_set_times", {kTmp, 0, 1000, 4, 1, 1, 16}), "INVAL");
  EXPECT_EQ(call("path_filestat_set_times", {kTmp, 2, 1000, 4, 1, 1, 1}), "INVAL");
  EXPECT_EQ(call("path_link", {kTmp, 1, 1000, 4, kTmp, 1010, 1}), "INVAL");
  EXPECT_EQ(call("path_link", {kTmp, 2, 1000, 4, kTmp, 1010, 1}), "INVAL");
}

TEST_F(Paths, a_directory_argument_must_be_one) {
  EXPECT_EQ(open("x", kRead, 0, 0), "BADF");
  EXPECT_EQ(open("x", kRead, 0, 99), "BADF");
  const uint64_t file = opened("file");
  EXPECT_EQ(open("x", kRead, kCreat, file), "NOTDIR");
}

TEST_F(Paths, nothing_changes_a_read_only_tree) {  // spec: F2
  for (const uint64_t ro : {kPackage, kSkillA, kSkills}) {
    EXPECT_EQ(open("f", kReadWrite, 0, ro), "PERM") << ro;
    EXPECT_EQ(open("f", kWrite, 0, ro), "PERM") << ro;
    EXPECT_EQ(open("f", kRead, kTrunc, ro), "PERM") << ro;
    EXPECT_EQ(open("f", 0, kTrunc, ro), "PERM") << ro;
    EXPECT_EQ(open("n", kRead, kCreat, ro), "PERM") << ro;
    EXPECT_EQ(open("f", kRead, kCreat, ro), "PERM") << ro;
    EXPECT_EQ(on_path("path_create_directory", ro, "d"), "PERM") << ro;
    EXPECT_EQ(on_path("path_remove_directory", ro, "d"), "PERM") << ro;
    EXPECT_EQ(on_path("path_unlink_file", ro, "f"), "PERM") << ro;
    EXPECT_EQ(symlink("f", "s", ro), "PERM") << ro;
    path("f");
    EXPECT_EQ(call("path_filestat_set_times", {ro, 0, 1000, 1, 1, 1, 5}), "PERM") << ro;
    EXPECT_EQ(call("fd_filestat_set_times", {ro, 1, 1, 5}), "PERM") << ro;
    for (const std::string function : {"path_link", "path_rename"}) {
      EXPECT_EQ(two_paths(function, ro, "f", kTmp, "g"), "PERM") << ro;
      EXPECT_EQ(two_paths(function, kTmp, "file", ro, "g"), "PERM") << ro;
      EXPECT_EQ(two_paths(function, ro, "f", ro, "g"), "PERM") << ro;
    }
  }
  const uint64_t file = opened("f", kRead, 0, kPackage);
  EXPECT_EQ(call("fd_filestat_set_times", {file, 1, 1, 5}), "PERM");
  EXPECT_EQ(call("fd_filestat_set_size", {file, 1}), "PERM");
  EXPECT_EQ(write(file, "x"), "BADF");
  const uint64_t through_skills = opened("a/SKILL.md", kRead, 0, kSkills);
  EXPECT_EQ(call("fd_filestat_set_size", {through_skills, 1}), "PERM");
  EXPECT_EQ(disk.text("package/f"), "read only");
  EXPECT_TRUE(disk.exists("tmp/file"));
}

TEST_F(Paths, a_directory_of_a_read_only_tree_is_read_only_too) {  // spec: F2
  disk.directory("package/sub");
  const uint64_t sub = opened("sub", kRead, kDirectory, kPackage);
  EXPECT_EQ(open("n", kRead, kCreat, sub), "PERM");
  EXPECT_EQ(on_path("path_create_directory", sub, "d"), "PERM");
}

TEST_F(Paths, names_move_and_link_between_the_volumes_trees) {  // spec: F2
  EXPECT_EQ(two_paths("path_link", kTmp, "file", kData, "linked"), "SUCCESS");
  EXPECT_EQ(disk.stat("data/linked").st_ino, disk.stat("tmp/file").st_ino);
  EXPECT_EQ(two_paths("path_rename", kTmp, "file", kData, "moved"), "SUCCESS");
  EXPECT_EQ(disk.text("data/moved"), "hello");
  EXPECT_FALSE(disk.exists("tmp/file"));
  EXPECT_EQ(two_paths("path_rename", kData, "moved", kTmp, "../out/q"), "PERM");
  EXPECT_EQ(two_paths("path_link", kTmp, "../out/secret", kTmp, "q"), "PERM");
}

TEST_F(Paths, changes_answer_as_on_linux) {  // spec: F2
  EXPECT_EQ(symlink("/etc", "s1"), "PERM");
  EXPECT_EQ(symlink("../../x", "s2"), "SUCCESS");
  EXPECT_EQ(symlink("", "s3"), "NOENT");
  EXPECT_EQ(symlink("file", "s4/"), "NOENT");
  EXPECT_EQ(symlink(std::string("a\0b", 3), "s5"), "INVAL");
  EXPECT_EQ(symlink("\xff", "s5"), "ILSEQ");
  EXPECT_EQ(two_paths("path_link", kTmp, "dir", kTmp, "h1"), "PERM");
  EXPECT_EQ(two_paths("path_link", kTmp, "lf", kTmp, "h2"), "SUCCESS");
  EXPECT_EQ(two_paths("path_link", kTmp, "file", kTmp, "h3/"), "NOENT");
  EXPECT_EQ(two_paths("path_link", kTmp, "file", kTmp, "lf"), "EXIST");
  EXPECT_EQ(two_paths("path_rename", kTmp, "file", kTmp, "n/"), "NOTDIR");
  EXPECT_EQ(two_paths("path_rename", kTmp, "dir", kTmp, "dir/sub"), "INVAL");
  EXPECT_EQ(two_paths("path_rename", kTmp, ".", kTmp, "q"), "BUSY");
  EXPECT_EQ(two_paths("path_rename", kTmp, "esc/", kTmp, "q"), "NOTDIR");
  EXPECT_EQ(two_paths("path_rename", kTmp, "file", kTmp, "dir"), "ISDIR");
  EXPECT_EQ(on_path("path_remove_directory", kTmp, "."), "INVAL");
  EXPECT_EQ(on_path("path_remove_directory", kTmp, "dir"), "NOTEMPTY");
  EXPECT_EQ(on_path("path_unlink_file", kTmp, "dir"), "ISDIR");
  EXPECT_EQ(on_path("path_create_directory", kTmp, "esc/new"), "PERM");
  EXPECT_EQ(on_path("path_create_directory", kTmp, ""), "NOENT");
  EXPECT_EQ(on_path("path_create_directory", kTmp, "dir"), "EXIST");
}

TEST_F(Paths, renaming_replaces_what_is_of_the_same_kind) {  // spec: F2
  disk.directory("tmp/empty");
  disk.directory("tmp/full/x");
  disk.file("tmp/other", "other");
  for (const auto& [from, to, answer] : std::initializer_list<std::array<std::string, 3>>{
           {"dir", "full", "NOTEMPTY"},
           {"dir", "file", "NOTDIR"},
           {"file", "empty", "ISDIR"},
           {"nothing", "file", "NOENT"},
           {"file", "nothing/x", "NOENT"},
           {"file", "other/x", "NOTDIR"},
           {"file", "file", "SUCCESS"},
           {"other", "file", "SUCCESS"},
           {"dir", "empty", "SUCCESS"},
           {"empty", "new", "SUCCESS"}}) {
    EXPECT_EQ(two_paths("path_rename", kTmp, from, kTmp, to), answer) << from << " " << to;
  }
  EXPECT_EQ(disk.text("tmp/file"), "other");
  EXPECT_FALSE(disk.exists("tmp/other"));
  EXPECT_TRUE(disk.exists("tmp/new/nested"));
}

TEST_F(Paths, a_link_to_nothing_is_a_link) {  // spec: F2
  EXPECT_EQ(symlink("target", "dangling"), "SUCCESS");
  EXPECT_EQ(open("dangling"), "LOOP");
  EXPECT_EQ(open("dangling", kRead, kDirectory), "NOTDIR");
  EXPECT_EQ(open("dangling", kRead, 0, kTmp, 1), "NOENT");
  EXPECT_EQ(symlink("other", "dangling"), "EXIST");
  EXPECT_EQ(two_paths("path_link", kTmp, "dangling", kTmp, "linked"), "SUCCESS");
  EXPECT_EQ(disk.stat("tmp/linked").st_ino, disk.stat("tmp/dangling").st_ino);
  EXPECT_EQ(on_path("path_unlink_file", kTmp, "dangling"), "SUCCESS");
}

TEST_F(Paths, a_links_content_comes_whole_whatever_its_script) {
  const std::string target = "wörld/世界/🌍";
  EXPECT_EQ(symlink(target, "☃"), "SUCCESS");
  path("☃");
  for (size_t size = 0; size <= target.size() + 3; ++size) {
    EXPECT_EQ(call("path_readlink", {kTmp, 1000, 3, 20000, size, 100}), "SUCCESS");
    const auto used = get<uint32_t>(100);
    EXPECT_EQ(text(20000, used), target.substr(0, size));
  }
}

TEST_F(Paths, a_links_content_is_cut_and_never_ended_with_a_nul) {  // spec: F2
  path("lf");
  for (const uint32_t size : {0U, 3U, 4U, 5U}) {
    put(20000, "########", 8);
    EXPECT_EQ(call("path_readlink", {kTmp, 1000, 2, 20000, size, 100}), "SUCCESS");
    EXPECT_EQ(get<uint32_t>(100), std::min(size, 4U));
    EXPECT_EQ(text(20000, 8), std::string("file").substr(0, size) + std::string(8 - std::min(size, 4U), '#'));
  }
  path("abs");
  EXPECT_EQ(call("path_readlink", {kTmp, 1000, 3, 20000, 100, 100}), "PERM");
  path("file");
  EXPECT_EQ(call("path_readlink", {kTmp, 1000, 4, 20000, 100, 100}), "INVAL");
}

TEST_F(Paths, stat_follows_links_only_where_asked) {
  path("lf");
  EXPECT_EQ(call("path_filestat_get", {kTmp, 0, 1000, 2, 104}), "SUCCESS");
  EXPECT_EQ(get<Filestat>(104).filetype, FileType::kSymbolicLink);
  EXPECT_EQ(call("path_filestat_get", {kTmp, 1, 1000, 2, 104}), "SUCCESS");
  const auto stat = get<Filestat>(104);
  EXPECT_EQ(stat.filetype, FileType::kRegular);
  EXPECT_EQ(stat.size, 5U);
  EXPECT_EQ(stat.inode, disk.stat("tmp/file").st_ino);
  EXPECT_EQ(stat.links, 1U);
}

TEST_F(Paths, times_are_kept_to_the_nanosecond) {  // spec: F2
  path("lf");
  EXPECT_EQ(call("path_filestat_set_times", {kTmp, 1, 1000, 2, 5, 1'234'567'890'123'456'789, 4}), "SUCCESS");
  EXPECT_EQ(disk.stat("tmp/file").st_mtim.tv_sec, 1'234'567'890);
  EXPECT_EQ(disk.stat("tmp/file").st_mtim.tv_nsec, 123'456'789);
  EXPECT_NE(disk.stat("tmp/file").st_atim.tv_nsec, 5);
  const uint64_t file = opened("file");
  path("lf");
  for (const uint64_t both : {3U, 12U, 15U}) {
    EXPECT_EQ(call("path_filestat_set_times", {kTmp, 1, 1000, 2, 5, 5, both}), "INVAL");
    EXPECT_EQ(call("fd_filestat_set_times", {file, 5, 5, both}), "INVAL");
  }
  EXPECT_EQ(disk.stat("tmp/file").st_mtim.tv_nsec, 123'456'789);
  EXPECT_EQ(call("path_filestat_set_times", {kTmp, 1, 1000, 2, 0, 0, 10}), "SUCCESS");
  EXPECT_GT(disk.stat("tmp/file").st_mtim.tv_sec, 1'700'000'000);
  EXPECT_EQ(call("path_filestat_set_times", {kTmp, 1, 1000, 2, ~uint64_t{0}, uint64_t{1} << 63U, 5}),
            "SUCCESS");
}

TEST_F(Paths, times_are_set_through_any_descriptor_of_a_writable_tree) {  // spec: F2
  for (const uint64_t rights : {kRead, kReadWrite, uint64_t{0}}) {
    const uint64_t fd = opened("file", rights);
    EXPECT_EQ(call("fd_filestat_set_times", {fd, 123'456'789, 987'654'321'000'000'001 + rights, 5}), "SUCCESS");
    EXPECT_EQ(call("fd_filestat_get", {fd, 104}), "SUCCESS");
    EXPECT_EQ(get<Filestat>(104).accessed, 123'456'789U);
    EXPECT_EQ(get<Filestat>(104).modified, 987'654'321'000'000'001U + rights);
  }
  EXPECT_EQ(call("fd_filestat_set_times", {opened("dir", 0, kDirectory), 1, 2, 5}), "SUCCESS");
  EXPECT_EQ(disk.stat("tmp/dir").st_mtim.tv_nsec, 2);
  path("lf");
  EXPECT_EQ(call("path_filestat_set_times", {kTmp, 0, 1000, 2, 0, 777, 4}), "SUCCESS");
  EXPECT_EQ(disk.stat("tmp/lf").st_mtim.tv_nsec, 777);
  EXPECT_EQ(disk.stat("tmp/file").st_mtim.tv_sec, 987'654'321);
}

TEST_F(Paths, a_time_of_a_file_system_is_told_whatever_it_is) {
  const timespec before[2] = {{-62'000'000'000, 0}, {-1, 0}};
  ::utimensat(AT_FDCWD, disk.at("tmp/file").c_str(), before, 0);
  path("file");
  EXPECT_EQ(call("path_filestat_get", {kTmp, 0, 1000, 4, 104}), "SUCCESS");
  EXPECT_EQ(get<Filestat>(104).accessed, 0U);
  EXPECT_EQ(get<Filestat>(104).modified, 0U);
  struct stat far = disk.stat("tmp/file");
  for (const time_t seconds : {time_t{18'446'744'073}, time_t{253'402'300'799}, INT64_MAX}) {
    far.st_mtim = {seconds, 999'999'999};  // from 2554 on, whatever a file system can hold
    EXPECT_EQ(filestat_of(far).modified, ~uint64_t{0}) << seconds;
  }
  far.st_mtim = {18'446'744'072, 999'999'999};
  EXPECT_EQ(filestat_of(far).modified, 18'446'744'072'999'999'999U);
  far.st_mtim = {INT64_MIN, 999'999'999};
  EXPECT_EQ(filestat_of(far).modified, 0U);
}

TEST_F(Paths, times_that_a_guest_cannot_hold_become_the_nearest) {  // spec: F2
  struct Year {
    int64_t seconds;
    uint64_t held;
  };
  constexpr int64_t kYear1 = -62'135'596'800;
  constexpr int64_t kYear9999 = 253'402'300'799;
  const uint64_t fd = opened("file");
  for (const Year& year : {Year{kYear1, 0}, Year{-1, 0}, Year{kYear9999, ~uint64_t{0}}}) {
    const timespec times[2] = {{year.seconds, 0}, {year.seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, disk.at("tmp/file").c_str(), times, 0), 0);
    // A file system may hold less than the guest can.
    const auto kept = static_cast<uint64_t>(disk.stat("tmp/file").st_mtim.tv_sec);
    constexpr uint64_t kSecond = 1'000'000'000;
    const bool as_meant = year.held == 0 || kept > ~uint64_t{0} / kSecond;
    const uint64_t want = as_meant ? year.held : kept * kSecond;
    path("file");
    EXPECT_EQ(call("path_filestat_get", {kTmp, 0, 1000, 4, 104}), "SUCCESS");
    EXPECT_EQ(get<Filestat>(104).accessed, want) << year.seconds;
    EXPECT_EQ(get<Filestat>(104).modified, want) << year.seconds;
    EXPECT_EQ(call("fd_filestat_get", {fd, 104}), "SUCCESS");
    EXPECT_EQ(get<Filestat>(104).modified, want) << year.seconds;
    EXPECT_EQ(call("fd_readdir", {kTmp, 20000, 4000, 0, 104}), "SUCCESS");
    EXPECT_NE(text(20000, get<uint32_t>(104)).find("file"), std::string::npos);
  }
}

TEST_F(Paths, skills_lead_into_their_trees) {  // spec: F1
  for (const Row& row : {Row{"a/SKILL.md", "skill a"}, Row{"./b//SKILL.md", "skill b"},
                         Row{"a/../b/SKILL.md", "skill b"}, Row{"a/./../b/./SKILL.md", "skill b"}}) {
    EXPECT_EQ(read(opened(row.path, kRead, 0, kSkills)), row.answer) << row.path;
  }
  for (const Row& row : {Row{"", "NOENT"}, Row{".", "SUCCESS"}, Row{"a", "SUCCESS"}, Row{"a/", "SUCCESS"},
                         Row{"a/..", "SUCCESS"}, Row{"..", "PERM"}, Row{"a/../..", "PERM"}, Row{"c", "NOENT"},
                         Row{"/a", "PERM"}, Row{"a/SKILL.md/", "NOTDIR"}, Row{"a/../../tmp/file", "PERM"},
                         Row{"b/nothing", "NOENT"}}) {
    EXPECT_EQ(open(row.path, kRead, 0, kSkills), row.answer) << row.path;
  }
  const uint64_t again = opened(".", kRead, kDirectory, kSkills);
  EXPECT_EQ(read(opened("b/SKILL.md", kRead, 0, again)), "skill b");
  path("a");
  EXPECT_EQ(call("path_filestat_get", {kSkills, 0, 1000, 1, 104}), "SUCCESS");
  EXPECT_EQ(get<Filestat>(104).inode, disk.stat("a").st_ino);
  path(".");
  EXPECT_EQ(call("path_filestat_get", {kSkills, 0, 1000, 1, 104}), "SUCCESS");
  EXPECT_EQ(get<Filestat>(104).filetype, FileType::kDirectory);
  EXPECT_EQ(call("path_readlink", {kSkills, 1000, 1, 20000, 10, 100}), "INVAL");
}

TEST_F(Paths, closing_a_preopen_leaves_what_was_opened_beneath_it) {  // spec: F1
  const uint64_t sub = opened("dir", kRead, kDirectory);
  EXPECT_EQ(call("fd_close", {kTmp}), "SUCCESS");
  EXPECT_EQ(call("fd_close", {kSkillA}), "SUCCESS");
  EXPECT_EQ(open("n", kReadWrite, kCreat, sub), "SUCCESS");
  EXPECT_EQ(read(opened("a/SKILL.md", kRead, 0, kSkills)), "skill a");
}

class Unbound : public Guest {
 protected:
  Unbound() : Guest(false) {}
};

TEST_F(Unbound, what_needs_a_tree_waits_for_it_alone) {  // spec: C1, F1
  EXPECT_EQ(call("fd_prestat_get", {kTmp, 104}), "SUCCESS");
  EXPECT_EQ(call("fd_prestat_dir_name", {kTmp, 200, 11}), "SUCCESS");
  EXPECT_EQ(call("fd_fdstat_get", {kTmp, 104}), "SUCCESS");
  EXPECT_EQ(open("file", kRead), "WAIT");
  EXPECT_FALSE(host.wake().at || host.wake().stdin || host.wake().now);
  EXPECT_EQ(call("fd_filestat_get", {kTmp, 104}), "WAIT");
  EXPECT_EQ(call("fd_readdir", {kTmp, 20000, 100, 0, 104}), "WAIT");
  EXPECT_EQ(call("fd_readdir", {kSkills, 20000, 100, 0, 104}), "WAIT");
  EXPECT_EQ(call("fd_sync", {kTmp}), "WAIT");
  EXPECT_EQ(on_path("path_unlink_file", kTmp, "x"), "WAIT");
  EXPECT_EQ(open("a/SKILL.md", kRead, 0, kSkills), "WAIT");
  disk.file("tmp/file", "now");
  bind();
  EXPECT_EQ(read(opened("file")), "now");
  EXPECT_EQ(read(opened("a/SKILL.md", kRead, 0, kSkills)), "skill a");
}

}  // namespace
}  // namespace subako::wasi
