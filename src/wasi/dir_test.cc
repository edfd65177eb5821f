#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "wasi/guest_test.h"

namespace subako::wasi {
namespace {

struct Listed {
  Dirent head;
  std::string name;
};

class Readdir : public Guest {
 protected:
  // One call: the whole entries of it, and how many bytes it used.
  std::pair<std::vector<Listed>, uint32_t> once(uint64_t fd, uint32_t size, uint64_t cookie) {
    std::string answer = call("fd_readdir", {fd, 20000, size, cookie, 104});
    while (answer == "WAIT" && host.wake().now) answer = call("fd_readdir", {fd, 20000, size, cookie, 104});
    EXPECT_EQ(answer, "SUCCESS");
    const auto used = get<uint32_t>(104);
    EXPECT_LE(used, size);
    std::vector<Listed> entries;
    for (uint64_t at = 0; at + sizeof(Dirent) <= used;) {
      const auto head = get<Dirent>(20000 + at);
      at += sizeof(Dirent);
      if (at + head.name_length > used) break;
      entries.push_back({head, text(20000 + at, head.name_length)});
      at += head.name_length;
    }
    return {entries, used};
  }
  // The whole directory through a buffer of `size`, as a libc does it: a cut entry is asked for again.
  std::vector<std::string> all(uint64_t fd, uint32_t size, size_t most_calls = 100'000) {
    std::vector<std::string> names;
    uint64_t cookie = 0;
    for (size_t calls = 0; calls < most_calls; ++calls) {
      const auto [entries, used] = once(fd, size, cookie);
      for (const Listed& entry : entries) names.push_back(entry.name);
      if (!entries.empty()) cookie = entries.back().head.next;
      if (used < size) return names;
      if (entries.empty()) break;
    }
    ADD_FAILURE() << "the listing doesn't end";
    return names;
  }
  // Many entries quickly: all the same file.
  void names(int count, const std::string& prefix) {
    disk.file("file");
    for (int i = 0; i < count; ++i) {
      std::filesystem::create_hard_link(disk.at("file"), disk.at("tmp/" + prefix + std::to_string(i)));
    }
  }
  void files(int count) {
    for (int i = 0; i < count; ++i) disk.file("tmp/file." + std::to_string(i));
  }
};

TEST_F(Readdir, an_empty_directory_has_its_dots) {  // spec: F2
  const auto [entries, used] = once(kTmp, 256, 0);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(used, 2 * sizeof(Dirent) + 3);
  EXPECT_EQ(call("fd_filestat_get", {kTmp, 104}), "SUCCESS");
  const uint64_t inode = get<Filestat>(104).inode;
  for (const Listed& entry : entries) {
    EXPECT_TRUE(entry.name == "." || entry.name == "..");
    EXPECT_EQ(entry.head.inode, inode) << "what lies above a root isn't told";
    EXPECT_EQ(entry.head.filetype, FileType::kDirectory);
  }
}

TEST_F(Readdir, entries_have_the_types_and_inodes_of_stat) {
  disk.directory("tmp/sub/deeper");
  disk.file("tmp/sub/f");
  disk.link("tmp/sub/l", "f");
  const uint64_t sub = opened("sub", kRead, kDirectory);
  std::map<std::string, Dirent> found;
  for (const Listed& entry : once(sub, 4000, 0).first) found[entry.name] = entry.head;
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found["f"].filetype, FileType::kRegular);
  EXPECT_EQ(found["l"].filetype, FileType::kSymbolicLink);
  EXPECT_EQ(found["deeper"].filetype, FileType::kDirectory);
  EXPECT_EQ(found["f"].inode, disk.stat("tmp/sub/f").st_ino);
  EXPECT_EQ(found["."].inode, disk.stat("tmp/sub").st_ino);
  EXPECT_EQ(found[".."].inode, disk.stat("tmp").st_ino);
}

TEST_F(Readdir, each_entrys_cookie_begins_at_the_next) {  // spec: F2
  files(20);
  const auto entries = once(kTmp, 10000, 0).first;
  ASSERT_EQ(entries.size(), 22U);
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto rest = once(kTmp, 10000, entries[i].head.next).first;
    ASSERT_EQ(rest.size(), entries.size() - i - 1);
    for (size_t k = 0; k < rest.size(); ++k) EXPECT_EQ(rest[k].name, entries[i + 1 + k].name);
  }
}

TEST_F(Readdir, every_size_of_buffer_lists_everything_once) {  // spec: F2
  files(30);
  const auto whole = all(kTmp, 40000);
  EXPECT_EQ(std::set<std::string>(whole.begin(), whole.end()).size(), 32U);
  for (uint32_t size = 32; size < 700; size += 7) EXPECT_EQ(all(kTmp, size), whole) << size;
}

TEST_F(Readdir, a_buffer_of_256_bytes_lists_102_entries_with_the_inodes_of_stat) {  // spec: F2
  files(100);
  std::map<std::string, Dirent> found;
  uint64_t cookie = 0;
  for (int calls = 0; calls < 102; ++calls) {
    const auto [entries, used] = once(kTmp, 256, cookie);
    for (const Listed& entry : entries) {
      EXPECT_TRUE(found.emplace(entry.name, entry.head).second) << entry.name << " came twice";
      cookie = entry.head.next;
    }
    if (used < 256) break;
  }
  ASSERT_EQ(found.size(), 102U);
  for (const auto& [name, head] : found) {
    path(name);
    ASSERT_EQ(call("path_filestat_get", {kTmp, 0, 1000, name == ".." ? 1 : name.size(), 104}), "SUCCESS");
    EXPECT_EQ(head.inode, get<Filestat>(104).inode) << name;
    EXPECT_EQ(head.filetype, get<Filestat>(104).filetype) << name;
  }
}

TEST_F(Readdir, a_buffer_is_filled_to_its_brim) {  // spec: F2
  files(20);
  const uint32_t total = once(kTmp, 40000, 0).second;
  for (uint32_t size = 0; size <= total + 1; ++size) {
    put(20000 + size, uint8_t{0x5a});
    EXPECT_EQ(once(kTmp, size, 0).second, std::min(size, total));
    EXPECT_EQ(get<uint8_t>(20000 + size), 0x5a);
  }
}

TEST_F(Readdir, removing_while_listing_ends_and_misses_nothing) {
  files(300);
  std::set<std::string> seen;
  uint64_t cookie = 0;
  for (int calls = 0; calls < 1000; ++calls) {
    const auto [entries, used] = once(kTmp, 128, cookie);
    for (const Listed& entry : entries) {
      if (entry.name.starts_with("file.")) {
        seen.insert(entry.name);
        (void)on_path("path_unlink_file", kTmp, entry.name);
      }
      cookie = entry.head.next;
    }
    if (used < 128) break;
  }
  EXPECT_EQ(seen.size(), 300U);
  EXPECT_EQ(all(kTmp, 1000).size(), 2U);
}

TEST_F(Readdir, beginning_anew_sees_what_is_new) {
  EXPECT_EQ(all(kTmp, 256).size(), 2U);
  files(3);
  EXPECT_EQ(all(kTmp, 256).size(), 5U);
  EXPECT_EQ(on_path("path_unlink_file", kTmp, "file.0"), "SUCCESS");
  EXPECT_EQ(all(kTmp, 256).size(), 4U);
}

TEST_F(Readdir, cookies_that_nobody_handed_out_end_the_listing) {
  for (const uint64_t cookie : {uint64_t{1} << 63U, ~uint64_t{0}}) {
    EXPECT_EQ(call("fd_readdir", {kTmp, 20000, 100, cookie, 104}), "SUCCESS");
    EXPECT_EQ(get<uint32_t>(104), 0U);
    EXPECT_EQ(call("fd_readdir", {kSkills, 20000, 100, cookie, 104}), "SUCCESS");
    EXPECT_EQ(get<uint32_t>(104), 0U);
  }
}

TEST_F(Readdir, two_descriptors_list_independently_and_calls_leak_nothing) {
  files(50);
  const uint64_t other = opened(".", 0, kDirectory);
  const auto first = once(kTmp, 200, 0).first;
  const auto second = once(other, 2000, 0).first;
  EXPECT_EQ(once(kTmp, 200, first.back().head.next).first[0].name, second[first.size()].name);
  const long before = volume::open_descriptors();
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(call("fd_readdir", {kTmp, 20000, 100, 0, 104}), "SUCCESS");
  EXPECT_EQ(volume::open_descriptors(), before);
}

TEST_F(Readdir, a_large_directory_costs_no_more_an_entry_through_a_small_buffer) {  // spec: F2
  // CPU time: others may be busy. A listing read anew for each call would cost 20 times as much an entry.
  const auto cost = [this](size_t entries) {
    const std::clock_t began = std::clock();
    EXPECT_EQ(all(kTmp, 32).size(), entries + 2);
    return static_cast<double>(std::clock() - began) / static_cast<double>(entries);
  };
  names(1000, "a");
  const double few = std::min({cost(1000), cost(1000), cost(1000)});
  names(19'000, "n");
  const double many = cost(20'000);
  EXPECT_LT(many, 6 * few) << "µs an entry: " << few << " of 1,000, " << many << " of 20,000";
}

TEST_F(Readdir, a_huge_buffer_is_filled_in_pieces) {  // spec: F2
  constexpr int kFiles = 4500;                        // 1.2 MiB of entries
  names(kFiles, std::string(245, 'n'));
  memory.resize(4 << 20);
  EXPECT_EQ(call("fd_readdir", {kTmp, 20000, 3 << 20, 0, 104}), "WAIT");
  EXPECT_TRUE(host.wake().now);
  std::set<std::string> names;
  for (const Listed& entry : once(kTmp, 3 << 20, 0).first) names.insert(entry.name);
  EXPECT_EQ(names.size(), kFiles + 2U);
}

TEST_F(Readdir, skills_are_exactly_the_grants) {  // spec: F1
  std::map<std::string, Dirent> found;
  const auto entries = once(kSkills, 1000, 0).first;
  for (const Listed& entry : entries) found[entry.name] = entry.head;
  EXPECT_EQ(found.size(), 4U);
  EXPECT_EQ(found["a"].inode, disk.stat("a").st_ino);
  EXPECT_EQ(found["b"].filetype, FileType::kDirectory);
  EXPECT_EQ(found["."].inode, found[".."].inode);
  EXPECT_EQ(once(kSkills, 1000, entries[2].head.next).first[0].name, "b");
  for (uint32_t size = 32; size < 120; ++size) EXPECT_EQ(all(kSkills, size).size(), 4U) << size;
}

TEST_F(Readdir, a_file_is_no_directory) {
  disk.file("tmp/file");
  EXPECT_EQ(call("fd_readdir", {opened("file"), 20000, 100, 0, 104}), "NOTDIR");
}

}  // namespace
}  // namespace subako::wasi
