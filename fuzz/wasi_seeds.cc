// Writes the corpus of wasi_fuzz.cc: stories of a few calls each, sound ones and wrong ones.
#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "seed_file.h"
#include "wasi/imports.h"
#include "wasi_script.h"

using subako::fuzz::number;

namespace {

using Word = std::string;

Word n(uint64_t value) {
  if (value < script::kPointers) return number(value, 1);
  if (value <= 0xffff) return number(script::kRaw2, 1) + number(value, 2);
  if (value <= 0xffffffff) return number(script::kRaw8, 1) + number(value, 4);
  return number(script::kRaw8 + 16, 1) + number(value, 8);
}
Word at(uint8_t slot) {
  return number(script::kPointers + slot, 1);
}
Word length(uint8_t slot) {
  return number(script::kLengths + slot, 1);
}
const Word kNewest = number(script::kNewest, 1);
const Word kResult = at(script::kResult);
const Word kList = at(script::kList);
const Word kBuffer = at(script::kBuffer);
const Word kBad = at(47);  // past any memory

constexpr uint64_t kRead = 2, kWrite = 64, kReadWrite = 66;
constexpr uint64_t kCreat = 1, kDirectory = 2, kExcl = 4, kTrunc = 8;
constexpr uint64_t kTmp = 3, kData = 4, kPackage = 5, kSkills = 6, kSkillA = 7;

class Story {
 public:
  explicit Story(uint8_t setting = 0) : bytes_(number(setting, 1)) {}

  Story& put(uint8_t slot, std::string_view text) {
    bytes_ += number(script::kPut, 1) + number(slot, 1) + number(text.size(), 1) + std::string(text);
    return *this;
  }
  Story& feed(std::string_view text) {
    bytes_ += number(script::kFeed, 1) + number(text.size(), 1) + std::string(text);
    return *this;
  }
  Story& advance(uint32_t by) {
    bytes_ += number(script::kAdvance, 1) + number(by, 4);
    return *this;
  }
  Story& end_input() {
    bytes_ += number(script::kEndInput, 1);
    return *this;
  }
  Story& call(std::string_view name, std::initializer_list<Word> words, bool watched = false) {
    const auto imports = subako::wasi::imports();
    const auto* row = subako::abi::find(imports, name);
    if (row == nullptr || row->type.param_count != words.size()) std::abort();
    bytes_ += number(static_cast<uint64_t>(row - imports.data()) | (watched ? script::kWatched : 0U), 1);
    for (const Word& word : words) bytes_ += word;
    return *this;
  }
  Story& trap(std::string_view name, std::initializer_list<Word> words) { return call(name, words, true); }

  // Shorthands. A path goes into slot 0, a second one into slot 1.
  Story& open(std::string_view path, uint64_t rights = kRead, uint64_t open = 0, uint64_t fd = kTmp,
              uint64_t follow = 0, uint64_t flags = 0) {
    return put(0, path).call(
        "path_open", {n(fd), n(follow), at(0), length(0), n(open), n(rights), n(0), n(flags), kResult});
  }
  Story& on_path(std::string_view name, std::string_view path, uint64_t fd = kTmp) {
    return put(0, path).call(name, {n(fd), at(0), length(0)}, true);
  }
  Story& two_paths(std::string_view name, std::string_view from, std::string_view to, uint64_t fd = kTmp,
                   uint64_t to_fd = kTmp) {
    put(0, from).put(1, to);
    if (name == "path_link") return call(name, {n(fd), n(0), at(0), length(0), n(to_fd), at(1), length(1)});
    return call(name, {n(fd), at(0), length(0), n(to_fd), at(1), length(1)});
  }
  Story& symlink(std::string_view target, std::string_view path, uint64_t fd = kTmp) {
    return put(0, target).put(1, path).call("path_symlink", {at(0), length(0), n(fd), at(1), length(1)});
  }
  Story& stat(std::string_view path, uint64_t follow = 0, uint64_t fd = kTmp) {
    return put(0, path).call("path_filestat_get", {n(fd), n(follow), at(0), length(0), kResult});
  }
  Story& readlink(std::string_view path, uint64_t fd = kTmp) {
    return put(0, path).call("path_readlink", {n(fd), at(0), length(0), kBuffer, n(100), kResult});
  }
  Story& buffers(std::initializer_list<std::pair<uint32_t, uint32_t>> list) {
    std::string bytes;
    for (const auto& [pointer, size] : list) bytes += number(pointer, 4) + number(size, 4);
    return put(script::kList, bytes);
  }
  Story& on_list(std::string_view name, const Word& fd, uint64_t count) {
    return call(name, {fd, kList, n(count), kResult});
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string subscription(uint8_t tag, uint32_t what, uint64_t timeout = 0, uint16_t flags = 0) {
  return number(0x1122334455667788, 8) + number(tag, 8) + number(what, 8) + number(timeout, 8) +
         number(1, 8) + number(flags, 8);
}

Story bad_pointers() {
  Story story;
  story.put(0, "file").put(1, "new").buffers({{20000, 4}});
  story.trap("args_get", {kBad, kResult})
      .trap("args_sizes_get", {kResult, kBad})
      .trap("environ_sizes_get", {kBad, kBad});
  story.trap("clock_time_get", {n(1), n(0), kBad}).trap("clock_res_get", {n(0), n(65)});
  story.trap("fd_fdstat_get", {n(3), kBad})
      .trap("fd_filestat_get", {n(3), n(65535)})
      .trap("fd_prestat_get", {n(3), n(66)});
  story.trap("fd_prestat_dir_name", {n(3), kBad, n(11)})
      .trap("fd_readdir", {n(3), kBad, n(100), n(0), kResult});
  story.trap("fd_seek", {n(3), n(0), n(0), kBad}).trap("fd_tell", {n(3), n(65)});
  story.trap("fd_read", {n(0), kBad, n(1), kResult}).trap("fd_write", {n(1), kList, n(1), kBad});
  story.trap("fd_pread", {n(3), kList, n(0x20000000), n(0), kResult})
      .trap("fd_pwrite", {n(3), n(257), n(1), n(0), kResult});
  story.trap("path_create_directory", {n(kTmp), kBad, n(3)})
      .trap("path_unlink_file", {n(kTmp), at(0), n(0xffffffff)});
  story.trap("path_filestat_get", {n(kTmp), n(0), at(0), length(0), kBad});
  story.trap("path_open", {n(kTmp), n(0), at(1), length(1), n(1), n(66), n(0), n(0), kBad});
  story.trap("path_link", {n(kTmp), n(0), at(0), length(0), n(kTmp), kBad, n(1)});
  story.trap("path_rename", {n(kTmp), at(0), length(0), n(kTmp), kBad, n(1)});
  story.trap("path_symlink", {at(0), length(0), n(kTmp), kBad, n(1)});
  story.trap("path_readlink", {n(kTmp), at(0), length(0), kBuffer, n(10), kBad});
  story.trap("poll_oneoff", {kList, kBad, n(1), kResult}).trap("random_get", {kBuffer, n(0xffffffff)});
  story.trap("sock_recv", {n(1), kList, n(1), n(0), kResult, kBad});
  return story;
}

Story files(uint8_t setting) {
  Story story(setting);
  story.open("file", kReadWrite).buffers({{20000, 4}, {0, 0}, {20004, 40}});
  story.on_list("fd_read", kNewest, 3)
      .call("fd_tell", {kNewest, kResult})
      .call("fd_seek", {kNewest, n(1), n(0), kResult});
  story.on_list("fd_write", kNewest, 3).call("fd_pread", {kNewest, kList, n(2), n(2), kResult});
  story.call("fd_pwrite", {kNewest, kList, n(1), n(60), kResult}).call("fd_filestat_get", {kNewest, kResult});
  story.call("fd_filestat_set_size", {kNewest, n(3)}).call("fd_filestat_set_size", {kNewest, n(100'000)});
  story.call("fd_filestat_set_times", {kNewest, n(1), n(1'000'000'000'000), n(5)});
  story.call("fd_advise", {kNewest, n(0), n(10), n(3)}).call("fd_allocate", {kNewest, n(0), n(10)});
  story.call("fd_sync", {kNewest}).call("fd_datasync", {kNewest}).call("fd_fdstat_get", {kNewest, kResult});
  story.call("fd_fdstat_set_flags", {kNewest, n(1)})
      .on_list("fd_write", kNewest, 1)
      .call("fd_fdstat_set_flags", {kNewest, n(2)});
  story.call("fd_seek", {kNewest, n(5), n(2), kResult}).call("fd_seek", {kNewest, n(5), n(1), kResult});
  story.call("fd_seek", {kNewest, n(0), n(1), kResult}).call("fd_seek", {kNewest, n(0), n(9), kResult});
  story.call("fd_fdstat_set_rights", {kNewest, n(2), n(0)})
      .on_list("fd_write", kNewest, 1)
      .on_list("fd_read", kNewest, 1);
  story.call("fd_fdstat_set_rights", {kNewest, n(66), n(0)}).call("fd_tell", {kNewest, kResult});
  story.call("fd_close", {kNewest}).call("fd_close", {kNewest}).on_list("fd_read", kNewest, 1);
  return story;
}

Story budget() {
  Story story(8);  // of 4,096 bytes
  story.open("new", kReadWrite, kCreat).buffers({{20000, 3000}});
  story.on_list("fd_write", kNewest, 1).on_list("fd_write", kNewest, 1).on_list("fd_write", kNewest, 1);
  story.call("fd_pwrite", {kNewest, kList, n(1), n(0), kResult})
      .call("fd_filestat_set_size", {kNewest, n(5000)});
  story.call("fd_filestat_set_size", {kNewest, n(0)}).open("other", kWrite, kCreat);
  story.call("fd_pwrite", {kNewest, kList, n(1), n(uint64_t{1} << 40U), kResult});
  return story;
}

// A byte far behind the end of a file costs all that lies between.
Story holes() {
  Story story(8);
  story.open("new", kReadWrite, kCreat).buffers({{20000, 1}});
  for (const uint64_t at : {3000, 6900, 9000})
    story.call("fd_pwrite", {kNewest, kList, n(1), n(at), kResult});
  return story;
}

Story many_bytes() {
  Story story(64);
  story.open("new", kReadWrite, kCreat);
  story.buffers({{0, 131072},
                 {0, 131072},
                 {0, 131072},
                 {0, 131072},
                 {0, 131072},
                 {0, 131072},
                 {0, 131072},
                 {0, 131072},
                 {0, 131072},
                 {0, 131072}});
  story.on_list("fd_write", kNewest, 10).call("fd_seek", {kNewest, n(0), n(0), kResult});
  story.buffers({{4096, 60000}, {4096, 60000}, {4096, 60000}}).on_list("fd_read", kNewest, 3);
  story.call("fd_read", {kNewest, n(32768), n(1025), kResult})
      .call("fd_write", {n(1), n(32768), n(1025), kResult});
  story.call("random_get", {kBuffer, n(100'000)}).call("random_get", {n(0), n(1'200'000)});
  return story;
}

Story streams(uint8_t setting) {
  Story story(setting);
  story.buffers({{20000, 30}, {20030, 40}}).feed("a line\n").on_list("fd_read", n(0), 2);
  story.on_list("fd_write", n(1), 2)
      .on_list("fd_write", n(2), 2)
      .on_list("fd_write", n(0), 1)
      .on_list("fd_read", n(1), 1);
  story.call("fd_filestat_get", {n(0), kResult})
      .call("fd_fdstat_get", {n(1), kResult})
      .call("fd_tell", {n(0), kResult});
  story.call("fd_seek", {n(1), n(0), n(0), kResult}).call("fd_pread", {n(0), kList, n(1), n(0), kResult});
  story.call("fd_sync", {n(1)}).call("fd_filestat_set_times", {n(1), n(0), n(0), n(10)});
  story.on_list("fd_read", n(0), 1).call("fd_fdstat_set_flags", {n(0), n(4)}).on_list("fd_read", n(0), 1);
  story.on_list("fd_read", n(0), 1).end_input().on_list("fd_read", n(0), 1);
  story.call("fd_renumber", {n(2), n(1)}).on_list("fd_write", n(1), 2).on_list("fd_write", n(1), 2);
  story.call("fd_readdir", {n(1), kBuffer, n(100), n(0), kResult})
      .call("path_readlink", {n(0), at(0), n(1), kBuffer, n(9), kResult});
  return story;
}

Story directories(uint8_t setting) {
  Story story(setting);
  story.call("fd_readdir", {n(kTmp), kBuffer, n(100), n(0), kResult});
  story.call("fd_readdir", {n(kTmp), kBuffer, n(1000), n(0), kResult})
      .call("fd_readdir", {n(kTmp), kBuffer, n(1000), n(2), kResult});
  story.call("fd_readdir", {n(kTmp), kBuffer, n(24), number(script::kEdges + 29, 1), kResult});
  story.call("fd_readdir", {n(kTmp), kBuffer, n(24), number(script::kEdges + 28, 1), kResult});
  story.call("fd_readdir", {n(kSkills), kBuffer, n(1000), n(0), kResult})
      .call("fd_readdir", {n(kSkills), kBuffer, n(70), n(1), kResult});
  story.open("dir", 0, kDirectory).call("fd_readdir", {kNewest, kBuffer, n(1000), n(0), kResult});
  story.call("fd_sync", {kNewest})
      .call("fd_filestat_get", {kNewest, kResult})
      .call("fd_filestat_set_times", {kNewest, n(0), n(0), n(10)});
  story.put(0, "../file")
      .call("path_open", {kNewest, n(0), at(0), length(0), n(0), n(2), n(0), n(0), kResult});
  story.call("fd_read", {n(kTmp), kList, n(1), kResult}).call("fd_seek", {n(kTmp), n(0), n(0), kResult});
  story.call("fd_fdstat_set_flags", {n(kTmp), n(1)})
      .call("fd_prestat_get", {n(kTmp), kResult})
      .call("fd_prestat_get", {n(0), kResult});
  story.call("fd_prestat_dir_name", {n(kTmp), kBuffer, n(11)})
      .call("fd_prestat_dir_name", {n(kTmp), kBuffer, n(2)});
  story.call("fd_datasync", {n(kSkills)})
      .call("fd_filestat_get", {n(kSkills), kResult})
      .call("fd_close", {n(kData)});
  return story;
}

Story names() {
  Story story;
  story.on_path("path_create_directory", "new")
      .on_path("path_create_directory", "dir/")
      .on_path("path_remove_directory", "new");
  story.on_path("path_unlink_file", "dir/inner")
      .on_path("path_unlink_file", "dir")
      .on_path("path_remove_directory", "dir/deep/");
  story.symlink("file", "made")
      .symlink("/etc/passwd", "absolute")
      .symlink("../../x", "up")
      .readlink("made")
      .readlink("abs");
  story.readlink("file")
      .two_paths("path_link", "file", "linked")
      .two_paths("path_rename", "linked", "moved", kTmp, kData);
  story.two_paths("path_rename", "dir", "in", kTmp, kTmp)
      .two_paths("path_link", "file", "linked", kTmp, kData);
  return story;
}

Story flags() {
  Story story;
  story.put(0, "file").put(1, "new");
  story.call("path_link", {n(kTmp), n(1), at(0), length(0), n(kTmp), at(1), length(1)});
  story.call("path_filestat_get", {n(kTmp), n(2), at(0), length(0), kResult});
  story.call("path_filestat_set_times", {n(kTmp), n(0), at(0), length(0), n(1), n(1), n(5)});
  story.call("path_filestat_set_times", {n(kTmp), n(1), at(0), length(0), n(1), n(1), n(10)});
  story.call("path_filestat_set_times", {n(kTmp), n(0), at(0), length(0), n(1), n(1), n(3)});
  story.call("path_filestat_set_times", {n(kTmp), n(0), at(0), length(0), n(1), n(1), n(16)});
  story.open("file", kRead, kDirectory).open("dir", kRead, kCreat | kDirectory).open("file", kRead, 16);
  story.open("x", kWrite, kCreat | kExcl, kTmp, 0, 30)
      .open("x", kWrite, kTrunc, kTmp, 1, 1)
      .open("x", kWrite, kCreat | kExcl);
  story.call("fd_fdstat_set_flags", {n(1), n(32)})
      .call("fd_fdstat_set_rights", {n(1), n(uint64_t{1} << 40U), n(0)});
  story.call("fd_fdstat_set_rights", {n(3), n(8192 + 2), n(2)}).open("file", kReadWrite).open("file", kRead);
  story.call("sock_accept", {n(1), n(32), kResult}).call("sock_accept", {n(1), n(4), kResult});
  story.call("sock_recv", {n(1), kList, n(0), n(4), kResult, kResult})
      .call("sock_recv", {n(1), kList, n(0), n(1), kResult, kResult});
  story.call("sock_send", {n(1), kList, n(0), n(1), kResult})
      .call("sock_send", {n(1), kList, n(0), n(0), kResult});
  story.call("sock_shutdown", {n(1), n(8)})
      .call("sock_shutdown", {n(9), n(3)})
      .call("fd_advise", {n(1), n(0), n(0), n(0)});
  story.call("clock_time_get", {n(2), n(0), kResult}).call("clock_time_get", {n(0), n(0), kResult});
  story.call("clock_res_get", {n(1), kResult}).call("proc_raise", {n(6)}).call("sched_yield", {});
  return story;
}

Story start(uint8_t setting) {
  Story story(setting);
  story.call("args_sizes_get", {kResult, n(68)}).call("args_get", {kResult, kBuffer});
  story.call("environ_sizes_get", {kResult, n(68)}).call("environ_get", {kResult, kBuffer});
  story.call("fd_renumber", {n(3), n(4)})
      .call("fd_renumber", {n(4), n(4)})
      .call("fd_renumber", {n(4), n(40)});
  return story.call("proc_exit", {n(7)});
}

Story poll() {
  Story story;
  const auto ask = [&story](const std::string& subscriptions, uint64_t count) {
    story.put(19, subscriptions).call("poll_oneoff", {at(19), kBuffer, n(count), kResult});
  };
  ask(subscription(0, 1, 1000), 1);
  ask(subscription(0, 0, 5'000'000) + subscription(1, 0), 2);
  ask(subscription(0, 1, 900, 1) + subscription(0, 0, uint64_t{1} << 63U, 1) + subscription(2, 1), 3);
  ask(subscription(1, 0), 1);
  story.open("file", kReadWrite);
  ask(subscription(1, 9) + subscription(2, 9) + subscription(1, 0), 3);
  ask(subscription(1, 40), 1);
  ask(subscription(3, 0), 1);
  ask(subscription(0, 2, 1), 1);
  ask(subscription(0, 1, 1, 2), 1);
  ask("", 0);
  story.call("poll_oneoff", {n(0), n(0), n(1000), kResult}).advance(1'000'000);
  return story.put(19, subscription(0, 1, 1'000'000)).call("poll_oneoff", {at(19), at(19), n(1), kResult});
}

Story escapes() {
  Story story;
  for (const char* path : {"../out/secret", "esc/secret", "abs/secret", "dir/../../out/secret", "/etc/passwd",
                           "loop", "in/../esc/dir"}) {
    story.open(path, kRead, 0, kTmp, 1).stat(path, 1).on_path("path_unlink_file", path);
  }
  story.two_paths("path_rename", "esc/secret", "got")
      .two_paths("path_link", "../out/secret", "got")
      .readlink("abs");
  story.two_paths("path_rename", "file", "esc/new")
      .symlink("x", "abs/new")
      .on_path("path_create_directory", "esc/new");
  return story;
}

Story read_only() {
  Story story;
  story.open("f", kRead, 0, kPackage)
      .buffers({{20000, 40}})
      .on_list("fd_read", kNewest, 1)
      .on_list("fd_write", kNewest, 1);
  story.call("fd_filestat_set_size", {kNewest, n(0)})
      .call("fd_filestat_set_times", {kNewest, n(0), n(0), n(10)});
  story.open("f", kReadWrite, 0, kPackage)
      .open("f", kRead, kTrunc, kPackage)
      .open("g", kRead, kCreat, kPackage);
  story.on_path("path_unlink_file", "f", kPackage)
      .on_path("path_create_directory", "g", kPackage)
      .symlink("f", "g", kPackage);
  story.two_paths("path_link", "f", "g", kPackage, kTmp)
      .two_paths("path_rename", "file", "g", kTmp, kPackage);
  story.on_path("path_remove_directory", "dir", kPackage).readlink("link", kPackage);
  story.call("fd_filestat_set_times", {n(kPackage), n(0), n(0), n(10)});
  return story;
}

Story skills(uint8_t setting) {
  Story story(setting);
  story.stat(".", 0, kSkills)
      .stat("a", 0, kSkills)
      .stat("a/SKILL.md", 0, kSkills)
      .stat("a/../b/./SKILL.md", 0, kSkills);
  story.stat("c", 0, kSkills)
      .stat("..", 0, kSkills)
      .open(".", 0, 0, kSkills)
      .open("a//SKILL.md", kRead, 0, kSkills);
  story.buffers({{20000, 40}})
      .on_list("fd_read", kNewest, 1)
      .readlink(".", kSkills)
      .readlink("a/SKILL.md", kSkills);
  story.on_path("path_unlink_file", "a/SKILL.md", kSkills).stat("", 0, kSkillA).stat("\xff", 0, kSkillA);
  return story.stat(std::string_view("a\0b", 3), 0, kSkillA).stat("SKILL.md/", 0, kSkillA);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const subako::fuzz::SeedFolder folder(argv[1]);
  const auto save = [&](const char* name, const Story& story) { folder.save(name, story.bytes()); };
  save("bad_pointers", bad_pointers());
  save("files", files(0));
  save("files_bound_late", files(1));
  save("budget", budget());
  save("holes", holes());
  save("many_bytes", many_bytes());
  save("streams", streams(0));
  save("streams_full_stdout", streams(16));
  save("streams_no_input", streams(2));
  save("directories", directories(0));
  save("directories_bound_late", directories(1));
  save("names", names());
  save("flags", flags());
  save("start", start(0));
  save("start_with_environment", start(32));
  save("poll", poll());
  save("escapes", escapes());
  save("read_only", read_only());
  save("skills", skills(0));
  save("skills_bound_late", skills(1));
}
