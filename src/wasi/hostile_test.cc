// A guest that calls anything with anything. Whatever it does, it stays in its memory (under AddressSanitizer
// a byte beyond is an error), in its trees and in its numbers.
#include <random>

#include "wasi/guest_test.h"

namespace subako::wasi {
namespace {

class Hostile : public Guest {
 protected:
  Hostile() {
    disk.directory("out");
    disk.file("out/secret", "secret");
    disk.link("tmp/esc", "../out");
    disk.link("tmp/abs", disk.at("out").string());
    disk.directory("tmp/dir/deep");
    disk.file("tmp/file", "hello");
  }

  uint64_t any(std::initializer_list<uint64_t> choices) {
    return choices.begin()[std::uniform_int_distribution<size_t>(0, choices.size() - 1)(random_)];
  }
  uint64_t word() {
    if (any({0, 1, 2, 3}) == 0) return random_();
    return any({0,
                1,
                2,
                3,
                4,
                5,
                6,
                7,
                8,
                9,
                10,
                11,
                12,
                16,
                64,
                66,
                100,
                104,
                200,
                400,
                1000,
                1024,
                4096,
                20000,
                65528,
                65532,
                65535,
                65536,
                0x7fffffff,
                0x80000000,
                0xfffffff0,
                0xffffffff,
                0x7fffffffffffffff,
                0x8000000000000000,
                0xffffffffffffffff});
  }
  // Paths of pieces that lead in, out and nowhere.
  uint64_t place_path() {
    static constexpr std::array<std::string_view, 16> kPieces{
        "dir", "deep",   "file", "esc",      "abs", "..", ".", "",
        "new", "secret", "a",    "SKILL.md", "out", "f",  "/", "x"};
    std::string name;
    for (uint64_t left = any({1, 1, 1, 2, 3, 4}); left > 0; --left) {
      name += kPieces[any({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})];
      if (left > 1 || any({0, 1, 2, 3}) == 0) name += '/';
    }
    path(name);
    return name.size();
  }

  std::vector<uint64_t> some_words(const abi::Import& import) {
    std::vector<uint64_t> words;
    const uint64_t length = place_path();
    for (size_t k = 0; k < import.type.param_count; ++k) words.push_back(word());
    // Half of the calls with a path are sound enough to get somewhere.
    if (any({0, 1}) == 0 || !import.name.starts_with("path_") || import.name == "path_symlink") return words;
    const bool after_flags =
        import.name == "path_open" || import.name == "path_link" || import.name.starts_with("path_filestat");
    words[0] = any({3, 3, 3, 3, 4, 5, 6, 7});
    if (after_flags) words[1] = any({0, 1});
    words[after_flags ? 2 : 1] = 1000;
    words[after_flags ? 3 : 2] = length;
    if (import.name == "path_open") {
      words[4] = any({0, 1, 2, 8, 9});
      words[5] = any({0, 2, 64, 66});
      words[6] = 0;
      words[7] = any({0, 1, 4});
      words[8] = 100;
    }
    if (import.name == "path_link" || import.name == "path_rename") {
      words[words.size() - 3] = any({3, 3, 3, 4, 5, 7});
      words[words.size() - 2] = 1000 + any({0, 1, 2});
      words[words.size() - 1] = length > 2 ? length - 2 : length;
    }
    if (import.name == "path_filestat_get") words[4] = 104;
    return words;
  }

  std::mt19937_64 random_{20260101};
};

TEST_F(Hostile, stays_in_its_memory_its_trees_and_its_numbers) {  // spec: F2, F6
  const long before = volume::open_descriptors();
  int successes = 0;
  for (int guests = 0; guests < 300; ++guests) {
    Host guest({.arguments = {"pack"},
                .preopens = {{"/volume/tmp", true}, {"/package"}, {"/skills", false, false}, {"/skills/a"}},
                .write_budget = 1 << 20},
               clock, stdio, blocking);
    guest.bind(0, disk.open("tmp"));
    guest.bind(1, disk.open("package"));
    guest.bind(3, disk.open("a"));
    for (int calls = 0; calls < 100; ++calls) {
      const abi::Import& import = imports()[random_() % imports().size()];
      if (import.name == "fd_sync" || import.name == "fd_datasync")
        continue;  // slow on a disk, and nothing to find
      const auto words = some_words(import);
      for (uint64_t at = 200; at < 232; at += 4) put(at, static_cast<uint32_t>(word()));
      const auto answer = import.call(&guest, abi::GuestMemory(memory), words);
      if (import.name.starts_with("path_") && answer == 0U) ++successes;
      (void)guest.take_progress();
    }
    EXPECT_LE(guest.budget().written(), uint64_t{1} << 20U);
    disk.directory("tmp/dir/deep");
    if (!disk.exists("tmp/file")) disk.file("tmp/file", "hello");
  }
  EXPECT_GT(successes, 100) << "the calls are too wild to test anything";
  EXPECT_EQ(disk.text("out/secret"), "secret");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(disk.at("out")), {}), 1);
  EXPECT_EQ(disk.text("package/f"), "read only");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(disk.at("package")), {}), 1);
  EXPECT_EQ(disk.text("a/SKILL.md"), "skill a");
  EXPECT_EQ(volume::open_descriptors(), before);
}

}  // namespace
}  // namespace subako::wasi
