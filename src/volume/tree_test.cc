#include "volume/tree.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "volume/forbid_openat2_test.h"
#include "volume/probe.h"
#include "volume/scratch_test.h"

namespace subako::volume {
namespace {

template <class T>
std::string said(const Outcome<T>& outcome) {
  return outcome ? "ok" : std::make_error_code(outcome.error()).message();
}

const std::string kEscape = "Operation not permitted";

class Trees : public ::testing::Test {
 protected:
  Trees() {
    scratch_.directory("tree/dir/nested");
    scratch_.directory("out");
    scratch_.file("tree/file", "hello");
    scratch_.file("tree/dir/inner", "inner");
    scratch_.file("out/secret", "secret");
    scratch_.link("tree/esc", "../out");
    scratch_.link("tree/abs", scratch_.at("out").string());
    scratch_.link("tree/bounce", "../tree/file");
    scratch_.link("tree/self", ".");
    scratch_.link("tree/in", "dir");
    scratch_.link("tree/lf", "file");
    scratch_.link("tree/dangling", "absent");
    scratch_.link("tree/loop", "loop");
    ::mkfifo(scratch_.at("tree/fifo").c_str(), 0600);
  }
  std::string opened(std::string_view path, int flags = O_RDONLY, LastLink last = LastLink::kStay) {
    return said(tree_.open(path, flags, last));
  }

  Scratch scratch_;
  Tree tree_ = Tree([this] {
    scratch_.directory("tree");
    return scratch_.open("tree");
  }());
};

TEST(Probe, this_machine_has_openat2) {
  EXPECT_TRUE(probe_openat2());
}  // spec: F2

TEST(Probe, a_machine_that_denies_openat2_is_told_in_a_sentence) {  // spec: F2
  for (const int error : {ENOSYS, EPERM}) {
    const auto probe = [error] {
      forbid_openat2(error);
      const auto probed = probe_openat2();
      std::fputs(probed ? "it works" : probed.error().message.c_str(), stderr);
      std::_Exit(0);
    };
    EXPECT_EXIT(probe(), ::testing::ExitedWithCode(0), "openat2.* doesn't work here .*allow openat2");
  }
}

TEST_F(Trees, only_one_name_that_is_no_link_to_follow_is_looked_up_without_openat2) {  // spec: F2
  for (const int error : {ENOSYS, EPERM}) {
    const auto look_up = [this, error] {
      if (opened("dir/inner") != "ok") std::_Exit(1);
      forbid_openat2(error);
      const long before = open_descriptors();
      const std::string no = std::strerror(error);
      if (opened("dir/inner") != no || opened("file") != no) std::_Exit(2);
      if (opened("dir/new", O_WRONLY | O_CREAT) != no) std::_Exit(3);
      if (said(tree_.stat("dir/inner", LastLink::kStay)) != no) std::_Exit(4);
      if (said(tree_.stat("lf", LastLink::kFollow)) != no) std::_Exit(4);
      if (said(tree_.set_times("file", LastLink::kFollow, {})) != no) std::_Exit(5);
      if (said(tree_.make_directory("dir/new")) != no) std::_Exit(6);
      if (said(tree_.unlink("dir/inner")) != no) std::_Exit(7);
      if (said(tree_.rename("dir/inner", tree_, "moved")) != no) std::_Exit(8);
      if (said(tree_.stat(".", LastLink::kStay)) != no || said(tree_.stat("..", LastLink::kStay)) != no) std::_Exit(10);
      if (said(tree_.stat("file/", LastLink::kStay)) != no || said(tree_.stat("esc", LastLink::kFollow)) != no) std::_Exit(11);
      // One name can't lead out: a link is told of, and not followed.
      const auto file = tree_.stat("file", LastLink::kFollow);
      if (!file || file->st_size != 5 || said(tree_.stat("file", LastLink::kStay)) != "ok") std::_Exit(12);
      const auto link = tree_.stat("esc", LastLink::kStay);
      if (!link || !S_ISLNK(link->st_mode)) std::_Exit(13);
      std::_Exit(open_descriptors() == before ? 0 : 9);
    };
    EXPECT_EXIT(look_up(), ::testing::ExitedWithCode(0), "");
  }
  EXPECT_EQ(scratch_.text("tree/dir/inner"), "inner");
  EXPECT_FALSE(scratch_.exists("tree/dir/new"));
}

TEST_F(Trees, no_path_leaves_the_tree) {  // spec: F2
  for (const std::string path :
       {"../out/secret", "/etc/passwd", "..", "dir/../../out/secret", "./../x", "esc/secret", "esc/", "esc/.",
        "esc//", "abs/secret", "self/self/../../x", "dir/nested/../../../out", "bounce/", "esc/nothing",
        "dir/nested/../../.."}) {
    for (const LastLink last : {LastLink::kStay, LastLink::kFollow}) {
      EXPECT_EQ(said(tree_.open(path, O_RDONLY, last)), kEscape) << path;
      EXPECT_EQ(said(tree_.open(path, O_RDWR | O_TRUNC, last)), kEscape) << path;
      EXPECT_NE(said(tree_.open(path, O_RDWR | O_CREAT | O_TRUNC, last)), "ok") << path;
      EXPECT_EQ(said(tree_.stat(path, last)), kEscape) << path;
      EXPECT_EQ(said(tree_.set_times(path, last, {})), kEscape) << path;
    }
  }
  for (const std::string path : {"esc", "abs", "bounce"}) {
    EXPECT_EQ(opened(path, O_RDONLY, LastLink::kFollow), kEscape) << path;
    EXPECT_EQ(opened(path, O_RDONLY, LastLink::kStay), "Too many levels of symbolic links") << path;
    EXPECT_EQ(said(tree_.stat(path, LastLink::kFollow)), kEscape) << path;
    EXPECT_TRUE(S_ISLNK(tree_.stat(path, LastLink::kStay)->st_mode)) << path;
  }
  EXPECT_EQ(scratch_.text("out/secret"), "secret");
}

TEST_F(Trees, no_change_leaves_the_tree) {  // spec: F2
  for (const std::string path :
       {"../out/new", "esc/new", "abs/new", "/new", "dir/../../out/new", "esc/../new"}) {
    EXPECT_EQ(said(tree_.make_directory(path)), kEscape) << path;
    EXPECT_EQ(said(tree_.make_link("file", path)), kEscape) << path;
    EXPECT_EQ(said(tree_.rename("file", tree_, path)), kEscape) << path;
    EXPECT_EQ(said(tree_.hard_link("file", tree_, path)), kEscape) << path;
  }
  for (const std::string path : {"../out/secret", "esc/secret", "abs/secret", "/etc/passwd"}) {
    EXPECT_EQ(said(tree_.unlink(path)), kEscape) << path;
    EXPECT_EQ(said(tree_.rename(path, tree_, "got")), kEscape) << path;
    EXPECT_EQ(said(tree_.hard_link(path, tree_, "got")), kEscape) << path;
  }
  for (const std::string path : {"..", "../out", "dir/../..", "esc/.", "esc/.."}) {
    EXPECT_EQ(said(tree_.remove_directory(path)), kEscape) << path;
    EXPECT_EQ(said(tree_.unlink(path)), kEscape) << path;
    EXPECT_EQ(said(tree_.make_directory(path)), kEscape) << path;
  }
  EXPECT_EQ(said(tree_.remove_directory("esc/")), "Not a directory");
  EXPECT_EQ(said(tree_.unlink("esc/")), "Not a directory");
  EXPECT_EQ(said(tree_.rename("esc/", tree_, "got")), "Not a directory");
  EXPECT_TRUE(scratch_.exists("out/secret"));
  EXPECT_FALSE(scratch_.exists("out/new"));
  EXPECT_FALSE(scratch_.exists("tree/got"));
}

TEST_F(Trees, a_slash_after_a_links_name_follows_it_nowhere_outside) {  // spec: F2
  const timespec made = scratch_.stat("out").st_mtim;
  const std::array<timespec, 2> times{timespec{1, 0}, timespec{1, 0}};
  for (const std::string path : {"esc/", "esc//", "esc/.", "abs/", "abs//", "abs/."}) {
    for (const LastLink last : {LastLink::kStay, LastLink::kFollow}) {
      for (const int flags : {O_RDONLY, O_RDONLY | O_DIRECTORY, O_WRONLY, O_RDWR | O_TRUNC}) {
        EXPECT_EQ(opened(path, flags, last), kEscape) << path << flags;
      }
      EXPECT_EQ(said(tree_.stat(path, last)), kEscape) << path;
      EXPECT_EQ(said(tree_.set_times(path, last, times)), kEscape) << path;
    }
    std::array<std::byte, 8> target{};
    EXPECT_EQ(said(tree_.read_link(path, target)), kEscape) << path;
    for (const std::string& answer :
         {opened(path, O_RDWR | O_CREAT), opened(path, O_RDWR | O_CREAT | O_EXCL),
          said(tree_.make_directory(path)), said(tree_.remove_directory(path)), said(tree_.unlink(path)),
          said(tree_.make_link("file", path)), said(tree_.rename(path, tree_, "got")),
          said(tree_.rename("dir", tree_, path)), said(tree_.hard_link(path, tree_, "got")),
          said(tree_.hard_link("file", tree_, path))}) {
      EXPECT_NE(answer, "ok") << path;
    }
  }
  const timespec now = scratch_.stat("out").st_mtim;
  EXPECT_EQ(now.tv_sec, made.tv_sec);
  EXPECT_EQ(now.tv_nsec, made.tv_nsec);
  EXPECT_EQ(scratch_.text("out/secret"), "secret");
  EXPECT_TRUE(S_ISLNK(scratch_.stat("tree/esc").st_mode));
  EXPECT_FALSE(scratch_.exists("tree/got"));
}

TEST_F(Trees, a_link_leads_on_from_its_own_directory) {  // spec: F2
  scratch_.link("tree/dir/nested/up", "../inner");
  scratch_.link("tree/dir/nested/top", "../../file");
  scratch_.link("tree/dir/beside", "inner");
  scratch_.link("tree/dir/nested/out", "../../../out/secret");
  scratch_.link("tree/dir/nested/back", "../../../tree/file");
  for (const std::string path : {"dir/nested/up", "dir/nested/top", "dir/beside", "in/nested/top"}) {
    EXPECT_EQ(opened(path, O_RDONLY, LastLink::kFollow), "ok") << path;
    EXPECT_EQ(said(tree_.stat(path, LastLink::kFollow)), "ok") << path;
  }
  EXPECT_EQ(tree_.stat("dir/nested/top", LastLink::kFollow)->st_ino, scratch_.stat("tree/file").st_ino);
  for (const std::string path : {"dir/nested/out", "dir/nested/back", "in/nested/out"}) {
    EXPECT_EQ(opened(path, O_RDONLY, LastLink::kFollow), kEscape) << path;
  }
}

TEST_F(Trees, a_guests_own_links_are_held_at_use) {  // spec: F2
  EXPECT_EQ(said(tree_.make_link("../../../../etc/passwd", "mine")), "ok");
  EXPECT_EQ(opened("mine", O_RDONLY, LastLink::kFollow), kEscape);
  EXPECT_EQ(said(tree_.make_link("/etc/passwd", "mine2")), kEscape);
  EXPECT_EQ(said(tree_.make_link("", "mine2")), "No such file or directory");
  EXPECT_EQ(said(tree_.make_link("dangling2", "dangling1")), "ok");
  EXPECT_EQ(opened("dangling1", O_RDWR | O_CREAT, LastLink::kFollow), "ok");
  EXPECT_TRUE(scratch_.exists("tree/dangling2"));
}

TEST_F(Trees, a_directory_moved_out_gives_no_way_up) {  // spec: F2
  const Tree nested(std::move(tree_.open("dir/nested", O_RDONLY | O_DIRECTORY, LastLink::kStay)->fd));
  std::filesystem::rename(scratch_.at("tree/dir/nested"), scratch_.at("out/nested"));
  EXPECT_EQ(said(nested.open("..", O_RDONLY, LastLink::kStay)), kEscape);
  EXPECT_EQ(said(nested.open("../secret", O_RDONLY, LastLink::kStay)), kEscape);
}

TEST_F(Trees, a_renamer_cannot_smuggle_a_reader_out) {  // spec: F2
  // "swap" is by turns a directory with a harmless secret and a link to the outside.
  scratch_.directory("tree/swap");
  scratch_.file("tree/swap/secret", "fine");
  scratch_.link("tree/swapped", "../out");
  const std::jthread renamer([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      ::renameat2(AT_FDCWD, scratch_.at("tree/swap").c_str(), AT_FDCWD, scratch_.at("tree/swapped").c_str(),
                  RENAME_EXCHANGE);
    }
  });
  int inside = 0;
  int refused = 0;
  for (int i = 0; i < 50'000; ++i) {
    const auto file = tree_.open("swap/secret", O_RDONLY, LastLink::kFollow);
    if (!file) {
      ++refused;
      continue;
    }
    char text[8] = {};
    ASSERT_EQ(::read(file->fd.get(), text, sizeof text), 4);
    ASSERT_STREQ(text, "fine");
    ++inside;
  }
  EXPECT_GT(inside, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(Trees, a_trailing_slash_means_a_directory) {  // spec: F2
  EXPECT_EQ(opened("dir/"), "ok");
  EXPECT_EQ(opened("dir/nested///"), "ok");
  EXPECT_EQ(opened("in/"), "ok");
  for (const char* path : {"file/", "file///", "file/.", "lf/", "file/x"}) {
    EXPECT_EQ(opened(path), "Not a directory") << path;
    EXPECT_EQ(said(tree_.stat(path, LastLink::kStay)), "Not a directory") << path;
    EXPECT_EQ(said(tree_.stat(path, LastLink::kFollow)), "Not a directory") << path;
  }
  EXPECT_EQ(opened("new/", O_RDWR | O_CREAT), "Is a directory");
  EXPECT_EQ(said(tree_.unlink("file/")), "Not a directory");
  EXPECT_EQ(said(tree_.unlink("dir/")), "Is a directory");
  EXPECT_EQ(said(tree_.unlink("nothing/")), "No such file or directory");
  EXPECT_EQ(said(tree_.rename("file/", tree_, "x")), "Not a directory");
  EXPECT_EQ(said(tree_.rename("file", tree_, "x/")), "Not a directory");
  EXPECT_EQ(said(tree_.rename("file/", tree_, "x/")), "Not a directory");
  EXPECT_EQ(said(tree_.rename("dir/", tree_, "moved/")), "ok");
  EXPECT_EQ(said(tree_.make_directory("made//")), "ok");
  EXPECT_EQ(said(tree_.remove_directory("made//")), "ok");
  EXPECT_EQ(said(tree_.remove_directory("file/")), "Not a directory");
  EXPECT_EQ(said(tree_.make_link("file", "absent/")), "No such file or directory");
  EXPECT_EQ(said(tree_.make_link("file", "moved/")), "File exists");
  EXPECT_EQ(said(tree_.make_link("file", "file/")), "Not a directory");
  EXPECT_EQ(said(tree_.hard_link("file", tree_, "absent/")), "No such file or directory");
  EXPECT_EQ(said(tree_.hard_link("file/", tree_, "x")), "Not a directory");
}

TEST_F(Trees, dots_name_no_entry_that_could_be_changed) {
  EXPECT_EQ(said(tree_.remove_directory(".")), "Invalid argument");
  EXPECT_EQ(said(tree_.remove_directory("dir/..")), "Directory not empty");
  EXPECT_EQ(said(tree_.unlink("dir/.")), "Is a directory");
  EXPECT_EQ(said(tree_.make_directory(".")), "File exists");
  EXPECT_EQ(said(tree_.rename(".", tree_, "q")), "Device or resource busy");
  EXPECT_EQ(said(tree_.rename("dir", tree_, "dir/nested/..")), "Device or resource busy");
  EXPECT_EQ(said(tree_.hard_link(".", tree_, "q")), kEscape);
  EXPECT_EQ(said(tree_.make_link("x", "dir/..")), "File exists");
  EXPECT_EQ(said(tree_.unlink("absent/..")), "No such file or directory");
}

TEST_F(Trees, odd_paths_have_their_errors) {
  EXPECT_EQ(opened(""), "No such file or directory");
  EXPECT_EQ(opened(std::string_view("a\0b", 3)), "Invalid argument");
  EXPECT_EQ(opened(std::string(300, 'x')), "File name too long");
  EXPECT_EQ(opened(std::string(4096, 'x')), "File name too long");
  EXPECT_EQ(said(tree_.make_directory(std::string(256, 'x'))), "File name too long");
  EXPECT_EQ(said(tree_.make_directory("")), "No such file or directory");
  EXPECT_EQ(opened("loop", O_RDONLY, LastLink::kFollow), "Too many levels of symbolic links");
  EXPECT_EQ(opened("dir/.//nested/../../dir/nested/../inner"), "ok");
  std::string longest(4095, '/');
  longest.replace(0, 3, "dir");
  EXPECT_EQ(opened(longest), "ok");
  EXPECT_EQ(said(tree_.make_directory("file/x")), "Not a directory");
}

TEST_F(Trees, only_files_and_directories_are_opened) {  // spec: F2
  const Fd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = scratch_.at("tree/socket").string();
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const std::string special : {"fifo", "socket"}) {
    for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_RDWR | O_CREAT}) {
      EXPECT_EQ(opened(special, flags), "Operation not supported") << special << flags;
    }
    EXPECT_EQ(opened(special, O_RDONLY | O_DIRECTORY), "Not a directory") << special;
  }
}

TEST_F(Trees, links_are_read_but_tell_nothing_of_the_host) {  // spec: F2
  std::array<std::byte, 4> small{};
  EXPECT_EQ(tree_.read_link("esc", small).value(), 4U);
  EXPECT_EQ(small[3], std::byte{'o'});
  EXPECT_EQ(tree_.read_link("esc", std::span<std::byte>()).value(), 0U);
  EXPECT_EQ(said(tree_.read_link("abs", small)), kEscape);
  EXPECT_EQ(said(tree_.read_link("file", small)), "Invalid argument");
  EXPECT_EQ(said(tree_.read_link("nothing", small)), "No such file or directory");
}

TEST_F(Trees, files_move_and_link_between_two_trees) {  // spec: F2
  scratch_.directory("other");
  const Tree other(scratch_.open("other"));
  EXPECT_EQ(said(tree_.hard_link("file", other, "linked")), "ok");
  EXPECT_EQ(scratch_.stat("other/linked").st_ino, scratch_.stat("tree/file").st_ino);
  EXPECT_EQ(said(tree_.rename("file", other, "moved")), "ok");
  EXPECT_EQ(scratch_.text("other/moved"), "hello");
  EXPECT_EQ(said(tree_.hard_link("dir", other, "d")), kEscape);
  EXPECT_EQ(said(tree_.rename("dir", tree_, "dir/nested/x")), "Invalid argument");
  EXPECT_EQ(said(tree_.hard_link("dangling", tree_, "dangling2")), "ok");
  EXPECT_EQ(said(other.hard_link("moved", tree_, "dangling")), "File exists");
}

TEST_F(Trees, what_is_made_belongs_to_the_session_alone) {
  EXPECT_EQ(said(tree_.make_directory("d")), "ok");
  EXPECT_EQ(opened("f", O_WRONLY | O_CREAT), "ok");
  EXPECT_EQ(scratch_.stat("tree/d").st_mode & 0777U, 0700U);
  EXPECT_EQ(scratch_.stat("tree/f").st_mode & 0777U, 0600U);
}

TEST_F(Trees, one_name_is_looked_at_as_any_path_is) {  // spec: F2
  for (const std::string name :
       {"file", "dir", "fifo", "lf", "in", "self", "esc", "abs", "dangling", "loop", "nothing"}) {
    for (const LastLink last : {LastLink::kStay, LastLink::kFollow}) {
      const auto one = tree_.stat(name, last);
      const auto path = tree_.stat("dir/../" + name, last);
      ASSERT_EQ(said(one), said(path)) << name;
      if (!one) continue;
      EXPECT_EQ(one->st_ino, path->st_ino) << name;
      EXPECT_EQ(one->st_mode, path->st_mode) << name;
    }
  }
  EXPECT_EQ(tree_.stat(".", LastLink::kStay)->st_ino, scratch_.stat("tree").st_ino);
}

TEST_F(Trees, times_of_a_link_itself_can_be_set) {
  const std::array<timespec, 2> times{timespec{1, 2}, timespec{3, 4}};
  const auto before = scratch_.stat("tree/file").st_mtim.tv_sec;
  EXPECT_EQ(said(tree_.set_times("lf", LastLink::kStay, times)), "ok");
  EXPECT_EQ(scratch_.stat("tree/lf").st_mtim.tv_nsec, 4);
  EXPECT_EQ(scratch_.stat("tree/file").st_mtim.tv_sec, before);
  EXPECT_EQ(said(tree_.set_times("lf", LastLink::kFollow, times)), "ok");
  EXPECT_EQ(scratch_.stat("tree/file").st_mtim.tv_sec, 3);
}

TEST_F(Trees, no_operation_leaks_a_descriptor) {
  const long before = open_descriptors();
  for (int i = 0; i < 50; ++i) {
    (void)opened("file");
    (void)opened("fifo");
    (void)opened("esc/x");
    (void)tree_.stat("dir/inner", LastLink::kStay);
    (void)tree_.rename("dir/inner", tree_, "dir/nested/../inner");
    (void)tree_.make_directory("dir/nested/x");
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace subako::volume
