// Every row of the table: one sound call, and the same call with each of its pointers bad in turn.
#include <map>

#include "wasi/guest_test.h"

namespace subako::wasi {
namespace {

struct Sound {
  std::string_view name;
  std::vector<uint64_t> words;
  std::string_view answer;
  // For each word: how many bytes the alignment of what it points to is; 0 for a word that is no pointer. A
  // pointer that is followed by its length or count is checked with it.
  std::vector<size_t> alignments;
};

// Memory as put_up() leaves it: "file" at 1000, "new" at 1010, an iovec of 4 bytes at 200, a subscription at
// 400. Descriptor 9 is a file opened for reading and writing.
const std::vector<Sound>& sound_calls() {
  static const std::vector<Sound> calls{
      {"args_get", {100, 104}, "SUCCESS", {4, 1}},
      {"args_sizes_get", {100, 104}, "SUCCESS", {4, 4}},
      {"clock_res_get", {0, 104}, "SUCCESS", {0, 8}},
      {"clock_time_get", {1, 0, 104}, "SUCCESS", {0, 0, 8}},
      {"environ_get", {100, 104}, "SUCCESS", {4, 0}},
      {"environ_sizes_get", {100, 104}, "SUCCESS", {4, 4}},
      {"fd_advise", {9, 0, 10, 0}, "SUCCESS", {0, 0, 0, 0}},
      {"fd_allocate", {9, 0, 10}, "NOTSUP", {0, 0, 0}},
      {"fd_close", {9}, "SUCCESS", {0}},
      {"fd_datasync", {9}, "SUCCESS", {0}},
      {"fd_fdstat_get", {9, 104}, "SUCCESS", {0, 8}},
      {"fd_fdstat_set_flags", {9, 1}, "SUCCESS", {0, 0}},
      {"fd_fdstat_set_rights", {9, 2, 0}, "SUCCESS", {0, 0, 0}},
      {"fd_filestat_get", {9, 104}, "SUCCESS", {0, 8}},
      {"fd_filestat_set_size", {9, 3}, "SUCCESS", {0, 0}},
      {"fd_filestat_set_times", {9, 1, 1, 5}, "SUCCESS", {0, 0, 0, 0}},
      {"fd_pread", {9, 200, 1, 0, 104}, "SUCCESS", {0, 4, 0, 0, 4}},
      {"fd_prestat_dir_name", {3, 200, 11}, "SUCCESS", {0, 1, 0}},
      {"fd_prestat_get", {3, 104}, "SUCCESS", {0, 4}},
      {"fd_pwrite", {9, 200, 1, 0, 104}, "SUCCESS", {0, 4, 0, 0, 4}},
      {"fd_read", {9, 200, 1, 104}, "SUCCESS", {0, 4, 0, 4}},
      {"fd_readdir", {3, 20000, 100, 0, 104}, "SUCCESS", {0, 1, 0, 0, 4}},
      {"fd_renumber", {9, 2}, "SUCCESS", {0, 0}},
      {"fd_seek", {9, 1, 0, 104}, "SUCCESS", {0, 0, 0, 8}},
      {"fd_sync", {9}, "SUCCESS", {0}},
      {"fd_tell", {9, 104}, "SUCCESS", {0, 8}},
      {"fd_write", {9, 200, 1, 104}, "SUCCESS", {0, 4, 0, 4}},
      {"path_create_directory", {3, 1010, 3}, "SUCCESS", {0, 1, 0}},
      {"path_filestat_get", {3, 0, 1000, 4, 104}, "SUCCESS", {0, 0, 1, 0, 8}},
      {"path_filestat_set_times", {3, 0, 1000, 4, 1, 1, 5}, "SUCCESS", {0, 0, 1, 0, 0, 0, 0}},
      {"path_link", {3, 0, 1000, 4, 3, 1010, 3}, "SUCCESS", {0, 0, 1, 0, 0, 1, 0}},
      {"path_open", {3, 0, 1010, 3, 1, 2, 0, 0, 104}, "SUCCESS", {0, 0, 1, 0, 0, 0, 0, 0, 4}},
      {"path_readlink", {3, 1030, 4, 20000, 10, 104}, "SUCCESS", {0, 1, 0, 1, 0, 4}},
      {"path_remove_directory", {3, 1020, 3}, "SUCCESS", {0, 1, 0}},
      {"path_rename", {3, 1000, 4, 3, 1010, 3}, "SUCCESS", {0, 1, 0, 0, 1, 0}},
      {"path_symlink", {1000, 4, 3, 1010, 3}, "SUCCESS", {1, 0, 0, 1, 0}},
      {"path_unlink_file", {3, 1000, 4}, "SUCCESS", {0, 1, 0}},
      {"poll_oneoff", {400, 504, 1, 104}, "SUCCESS", {8, 8, 0, 4}},
      {"proc_exit", {7}, "EXIT 7", {0}},
      {"proc_raise", {6}, "NOTSUP", {0}},
      {"random_get", {20000, 100}, "SUCCESS", {1, 0}},
      {"sched_yield", {}, "WAIT", {}},
      {"sock_accept", {1, 0, 104}, "NOTSOCK", {0, 0, 4}},
      {"sock_recv", {1, 200, 1, 0, 104, 108}, "NOTSOCK", {0, 4, 0, 0, 4, 2}},
      {"sock_send", {1, 200, 1, 0, 104}, "NOTSOCK", {0, 4, 0, 0, 4}},
      {"sock_shutdown", {1, 3}, "NOTSOCK", {0, 0}},
  };
  return calls;
}

class Table : public Guest {
 protected:
  Table() {
    disk.file("tmp/file", "0123456789");
    disk.directory("tmp/dir");
    disk.link("tmp/link", "file");
    EXPECT_EQ(opened("file", kReadWrite), 9U);
    path("file", 1000);
    path("new", 1010);
    path("dir", 1020);
    path("link", 1030);
    iovec(200, 20000, 4);
  }
};

TEST_F(Table, every_function_has_a_sound_call) {  // spec: F2
  size_t row = 0;
  ASSERT_EQ(sound_calls().size(), imports().size());
  for (const abi::Import& import : imports()) {
    const Sound& sound = sound_calls()[row++];
    ASSERT_EQ(import.name, sound.name);
    ASSERT_EQ(import.type.param_count, sound.alignments.size()) << import.name;
  }
}

class EachFunction : public Table, public ::testing::WithParamInterface<size_t> {
 protected:
  // What a refused call must have left alone.
  std::string state() {
    std::string all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(disk.at("tmp"))) {
      all += entry.path().filename().string() + ";";
    }
    struct stat file = disk.stat("tmp/file");
    return all + std::to_string(file.st_size) + disk.text("tmp/file") + std::to_string(file.st_mtim.tv_sec) +
           std::to_string(volume::open_descriptors());
  }
};

TEST_P(EachFunction, answers_a_sound_call) {
  const Sound& sound = sound_calls()[GetParam()];
  EXPECT_EQ(call(sound.name, sound.words), sound.answer);
}

TEST_P(EachFunction, traps_on_a_bad_pointer_and_does_nothing) {  // spec: F2
  const Sound& sound = sound_calls()[GetParam()];
  const std::string before = state();
  for (size_t i = 0; i < sound.words.size(); ++i) {
    if (sound.alignments[i] == 0) continue;
    const std::string start = "TRAP " + std::string(sound.name) + ": the pointer ";
    for (const uint64_t bad :
         {uint64_t{0xfffffff0}, uint64_t{65536}, uint64_t{65536 - sound.alignments[i] * 2 + 1}}) {
      if (bad >= 65535 && sound.name == "environ_get") continue;  // there is nothing to write
      if (bad == 65535 && sound.name != "args_get") continue;     // a byte that may be all that's needed
      std::vector<uint64_t> words = sound.words;
      words[i] = bad;
      EXPECT_TRUE(call(sound.name, words).starts_with(start)) << sound.name << " " << i << " " << bad;
    }
    if (sound.alignments[i] == 1) continue;
    std::vector<uint64_t> words = sound.words;
    words[i] += 1;
    EXPECT_EQ(
        call(sound.name, words), start + "0x" +
                                     [&] {
                                       char hex[20];
                                       std::snprintf(hex, sizeof hex, "%llx",
                                                     static_cast<unsigned long long>(words[i]));
                                       return std::string(hex);
                                     }() +
                                     " is not aligned to " + std::to_string(sound.alignments[i]) + " bytes");
  }
  EXPECT_EQ(state(), before);
}

TEST_P(EachFunction, refuses_descriptors_that_are_not_open) {  // spec: F2, F6
  const Sound& sound = sound_calls()[GetParam()];
  const bool takes_fd =
      sound.name.starts_with("fd_") || sound.name.starts_with("path_") || sound.name.starts_with("sock_");
  if (!takes_fd) return;
  const size_t index = sound.name == "path_symlink" ? 2 : 0;
  for (const uint64_t fd : {99U, 1024U, 0x7fffffffU, 0xffffffffU}) {
    std::vector<uint64_t> words = sound.words;
    words[index] = fd;
    EXPECT_EQ(call(sound.name, words), "BADF") << fd;
  }
}

INSTANTIATE_TEST_SUITE_P(Wasi, EachFunction, ::testing::Range(size_t{0}, size_t{46}),
                         [](const auto& row) { return std::string(sound_calls()[row.param].name); });

TEST(Imports, types_are_those_of_the_standard) {  // spec: M3
  const std::map<std::string_view, std::string_view> types{
      {"args_get", "(i32, i32) -> i32"},
      {"args_sizes_get", "(i32, i32) -> i32"},
      {"clock_res_get", "(i32, i32) -> i32"},
      {"clock_time_get", "(i32, i64, i32) -> i32"},
      {"environ_get", "(i32, i32) -> i32"},
      {"environ_sizes_get", "(i32, i32) -> i32"},
      {"fd_advise", "(i32, i64, i64, i32) -> i32"},
      {"fd_allocate", "(i32, i64, i64) -> i32"},
      {"fd_close", "(i32) -> i32"},
      {"fd_datasync", "(i32) -> i32"},
      {"fd_fdstat_get", "(i32, i32) -> i32"},
      {"fd_fdstat_set_flags", "(i32, i32) -> i32"},
      {"fd_fdstat_set_rights", "(i32, i64, i64) -> i32"},
      {"fd_filestat_get", "(i32, i32) -> i32"},
      {"fd_filestat_set_size", "(i32, i64) -> i32"},
      {"fd_filestat_set_times", "(i32, i64, i64, i32) -> i32"},
      {"fd_pread", "(i32, i32, i32, i64, i32) -> i32"},
      {"fd_prestat_dir_name", "(i32, i32, i32) -> i32"},
      {"fd_prestat_get", "(i32, i32) -> i32"},
      {"fd_pwrite", "(i32, i32, i32, i64, i32) -> i32"},
      {"fd_read", "(i32, i32, i32, i32) -> i32"},
      {"fd_readdir", "(i32, i32, i32, i64, i32) -> i32"},
      {"fd_renumber", "(i32, i32) -> i32"},
      {"fd_seek", "(i32, i64, i32, i32) -> i32"},
      {"fd_sync", "(i32) -> i32"},
      {"fd_tell", "(i32, i32) -> i32"},
      {"fd_write", "(i32, i32, i32, i32) -> i32"},
      {"path_create_directory", "(i32, i32, i32) -> i32"},
      {"path_filestat_get", "(i32, i32, i32, i32, i32) -> i32"},
      {"path_filestat_set_times", "(i32, i32, i32, i32, i64, i64, i32) -> i32"},
      {"path_link", "(i32, i32, i32, i32, i32, i32, i32) -> i32"},
      {"path_open", "(i32, i32, i32, i32, i32, i64, i64, i32, i32) -> i32"},
      {"path_readlink", "(i32, i32, i32, i32, i32, i32) -> i32"},
      {"path_remove_directory", "(i32, i32, i32) -> i32"},
      {"path_rename", "(i32, i32, i32, i32, i32, i32) -> i32"},
      {"path_symlink", "(i32, i32, i32, i32, i32) -> i32"},
      {"path_unlink_file", "(i32, i32, i32) -> i32"},
      {"poll_oneoff", "(i32, i32, i32, i32) -> i32"},
      {"proc_exit", "(i32) -> ()"},
      {"proc_raise", "(i32) -> i32"},
      {"random_get", "(i32, i32) -> i32"},
      {"sched_yield", "() -> i32"},
      {"sock_accept", "(i32, i32, i32) -> i32"},
      {"sock_recv", "(i32, i32, i32, i32, i32, i32) -> i32"},
      {"sock_send", "(i32, i32, i32, i32, i32) -> i32"},
      {"sock_shutdown", "(i32, i32) -> i32"},
  };
  ASSERT_EQ(imports().size(), types.size());
  for (const abi::Import& import : imports()) {
    EXPECT_EQ(import.module, kModule);
    EXPECT_EQ(abi::describe(import.type), types.at(import.name)) << import.name;
  }
}

}  // namespace
}  // namespace subako::wasi
