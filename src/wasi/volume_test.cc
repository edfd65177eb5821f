// What guests do to a Volume is counted as they do it (spec: F5), by every route: the ledger equals a recount and what is open
// without a name, whatever several guests do at once.
#include <rapidcheck.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "base/limits.h"
#include "volume/count.h"
#include "wasi/guest_test.h"

namespace subako::wasi {
namespace {

using volume::Counts;

Counts recount(const volume::Scratch& disk) {
  const Fd tmp = disk.open("tmp");
  const Fd data = disk.open("data");
  const auto counted = volume::count_trees(std::array{tmp.get(), data.get()}, [] { return false; });
  EXPECT_TRUE(counted) << counted.error().message;
  return counted.value_or(Counts{});
}

// ---------------------------------------------------------------------------------------------- a Volume at its limit

class FullVolume : public Guest {
 protected:
  // Room for 100 bytes and 4 entries beside what is there: "dir", "old" of 10 bytes, "link" and its target's name.
  FullVolume() {
    disk.directory("tmp/dir");
    disk.file("tmp/old", "0123456789");
    disk.link("tmp/link", "nowhere");
    host_.emplace(World{.preopens = {{"/volume/tmp", true}, {"/volume/data", true}}, .write_budget = 200, .ledger = &ledger_}, clock,
                  stdio, blocking);
    host_->bind(0, disk.open("tmp"));
    host_->bind(1, disk.open("data"));
  }
  std::string ask(std::string_view name, const std::vector<uint64_t>& words) {
    return shown(abi::find(imports(), name)->call(&*host_, abi::GuestMemory(memory), words));
  }
  std::string open_it(std::string_view name, uint64_t oflags = 0, uint64_t follow = 0, uint64_t rights = kReadWrite, uint64_t fdflags = 0) {
    path(name);
    return ask("path_open", {kTmp, follow, 1000, name.size(), oflags, rights, 0, fdflags, 100});
  }
  uint64_t fd_of(std::string_view name, uint64_t oflags = 0, uint64_t fdflags = 0) {
    EXPECT_EQ(open_it(name, oflags, 0, kReadWrite, fdflags), "SUCCESS") << name;
    return get<uint32_t>(100);
  }
  // How many bytes were written, or the error.
  std::string write_it(uint64_t fd, uint32_t bytes, uint64_t at) {
    iovec(200, 20000, bytes);
    const std::string answer = ask("fd_pwrite", {fd, 200, 1, at, 104});
    return answer == "SUCCESS" ? std::to_string(get<uint32_t>(104)) : answer;
  }
  std::string one(std::string_view function, std::string_view name) {
    path(name);
    return ask(function, {kTmp, 1000, name.size()});
  }
  std::string two(std::string_view function, std::string_view from, std::string_view to) {
    path(from);
    path(to, 6000);
    if (function == "path_symlink") return ask(function, {1000, from.size(), kTmp, 6000, to.size()});
    if (function == "path_link") return ask(function, {kTmp, 0, 1000, from.size(), kTmp, 6000, to.size()});
    return ask(function, {kTmp, 1000, from.size(), kTmp, 6000, to.size()});
  }
  void expect_counted() { EXPECT_EQ(ledger_.counts(), recount(disk)); }

  volume::Ledger ledger_{{.bytes = 10, .entries = 3}, {.bytes = 110, .entries = 5}};
  std::optional<Host> host_;
};

TEST_F(FullVolume, writes_stop_at_the_border_and_what_does_not_grow_goes_on) {  // spec: F5
  const uint64_t file = fd_of("old");
  EXPECT_EQ(write_it(file, 90, 0), "90");
  EXPECT_EQ(write_it(file, 50, 90), "20") << "a short write at the border";
  EXPECT_EQ(host_->volume_full(), Host::Full::kNo);
  EXPECT_EQ(write_it(file, 1, 110), "NOSPC");
  EXPECT_EQ(host_->volume_full(), Host::Full::kBytes);
  EXPECT_EQ(write_it(file, 1, 150), "NOSPC") << "a hole grows it too";
  EXPECT_EQ(ask("fd_filestat_set_size", {file, 111}), "NOSPC");
  EXPECT_EQ(write_it(file, 20, 100), "10") << "up to its end";
  EXPECT_EQ(write_it(file, 20, 3), "20") << "in place";
  EXPECT_EQ(one("path_unlink_file", "link"), "SUCCESS");
  EXPECT_EQ(two("path_rename", "old", "new"), "SUCCESS");
  iovec(200, 20000, 50);
  EXPECT_EQ(ask("fd_pread", {file, 200, 1, 0, 104}), "SUCCESS");
  EXPECT_EQ(ask("fd_filestat_set_size", {file, 105}), "SUCCESS");
  EXPECT_EQ(write_it(file, 20, 105), "5") << "there is room again";
  expect_counted();
}

TEST_F(FullVolume, appending_and_sparse_files_are_counted_by_what_they_grow) {  // spec: F5
  const uint64_t file = fd_of("old", 0, kAppend);
  EXPECT_EQ(write_it(file, 5, 0), "5");
  EXPECT_EQ(ledger_.counts().bytes, 15U);
  const uint64_t sparse = fd_of("sparse", kCreat);
  EXPECT_EQ(write_it(sparse, 5, 95), "NOSPC");
  EXPECT_EQ(write_it(sparse, 5, 92), "3");
  expect_counted();
}

TEST_F(FullVolume, the_call_and_the_volume_each_say_their_own) {  // spec: F4, F5
  const uint64_t file = fd_of("old");
  EXPECT_EQ(write_it(file, 100, 10), "100");
  EXPECT_EQ(write_it(file, 1, 110), "NOSPC") << "100 of its 200 are left to the call";
  EXPECT_EQ(write_it(file, 110, 0), "100");
  EXPECT_EQ(write_it(file, 1, 0), "DQUOT");
  EXPECT_EQ(write_it(file, 1, 110), "DQUOT") << "it couldn't, were there room";
  EXPECT_EQ(ask("fd_filestat_set_size", {file, 0}), "SUCCESS");
  EXPECT_EQ(ask("fd_filestat_set_size", {file, 1}), "DQUOT");
}

TEST_F(FullVolume, no_name_is_made_and_what_makes_none_answers_as_ever) {  // spec: F5
  EXPECT_EQ(open_it("a", kCreat), "SUCCESS");
  EXPECT_EQ(open_it("b", kCreat | kExcl), "SUCCESS");
  EXPECT_EQ(ledger_.counts().entries, 5U);
  EXPECT_EQ(open_it("c", kCreat), "NOSPC");
  EXPECT_EQ(host_->volume_full(), Host::Full::kEntries);
  EXPECT_EQ(open_it("c", kCreat | kExcl), "NOSPC");
  EXPECT_EQ(open_it("link", kCreat, 1), "NOSPC") << "the link leads to a file that isn't there";
  EXPECT_EQ(one("path_create_directory", "c"), "NOSPC");
  EXPECT_EQ(two("path_symlink", "x", "c"), "NOSPC");
  EXPECT_EQ(two("path_link", "old", "c"), "NOSPC");
  EXPECT_FALSE(disk.exists("tmp/c"));
  EXPECT_FALSE(disk.exists("tmp/nowhere"));

  EXPECT_EQ(open_it("old", kCreat | kTrunc), "SUCCESS");
  EXPECT_EQ(open_it("old", kCreat | kExcl), "EXIST");
  EXPECT_EQ(open_it("dir", kCreat), "ISDIR");
  EXPECT_EQ(open_it("new/", kCreat), "ISDIR");
  EXPECT_EQ(open_it("absent/x", kCreat), "NOENT");
  EXPECT_EQ(open_it("absent"), "NOENT");
  EXPECT_EQ(open_it("../x", kCreat), "PERM");
  EXPECT_EQ(one("path_create_directory", "dir"), "EXIST");
  EXPECT_EQ(one("path_create_directory", "absent/x"), "NOENT");
  EXPECT_EQ(one("path_create_directory", "old/x"), "NOTDIR");
  EXPECT_EQ(two("path_symlink", "x", "old"), "EXIST");
  EXPECT_EQ(two("path_link", "old", "dir"), "EXIST");
  EXPECT_EQ(two("path_link", "absent", "c"), "NOENT");
  EXPECT_EQ(two("path_link", "dir", "c"), "PERM");
  EXPECT_EQ(two("path_rename", "a", "c"), "SUCCESS");
  EXPECT_EQ(two("path_rename", "c", "b"), "SUCCESS") << "one name fewer";
  expect_counted();
  EXPECT_EQ(one("path_create_directory", "c"), "SUCCESS");
  EXPECT_EQ(one("path_create_directory", "d"), "NOSPC");
  EXPECT_EQ(one("path_remove_directory", "c"), "SUCCESS");
  EXPECT_EQ(two("path_symlink", "x", "c"), "SUCCESS");
  expect_counted();
}

TEST_F(FullVolume, without_room_for_a_name_files_that_are_there_are_opened_as_with_it) {  // spec: F2, F5
  disk.link("tmp/to_old", "old");
  volume::Ledger none({}, {});
  Host full(World{.preopens = {{"/volume/tmp", true}}, .ledger = &none}, clock, stdio, blocking);
  full.bind(0, disk.open("tmp"));
  for (const std::string name : {"old", "dir", "link", "to_old", "old/", "dir/", "new/", "link/", ".", "dir/..", "absent/x", "old/x", "../x"}) {
    for (const uint64_t oflags : {uint64_t{0}, kCreat | kExcl, kCreat | kTrunc, kCreat}) {
      for (const uint64_t follow : {0, 1}) {
        path(name);
        const std::vector<uint64_t> words{kTmp, follow, 1000, name.size(), oflags, kRead, 0, 0, 100};
        const std::string answer = shown(abi::find(imports(), "path_open")->call(&full, abi::GuestMemory(memory), words));
        if (answer == "NOSPC") continue;  // the next would make it
        EXPECT_EQ(answer, call("path_open", words)) << name << ' ' << oflags << ' ' << follow;
      }
    }
  }
}

TEST_F(FullVolume, a_removed_file_is_given_back_when_nobody_has_it_open) {  // spec: F5
  const uint64_t file = fd_of("old");
  EXPECT_EQ(write_it(file, 100, 10), "100");
  EXPECT_EQ(one("path_unlink_file", "old"), "SUCCESS");
  const uint64_t other = fd_of("other", kCreat);
  EXPECT_EQ(write_it(other, 1, 0), "NOSPC");
  EXPECT_EQ(ask("fd_close", {file}), "SUCCESS");
  EXPECT_EQ(write_it(other, 1, 0), "1");
  expect_counted();
}

TEST_F(FullVolume, what_a_guest_leaves_open_is_given_back_at_its_end) {  // spec: F5
  const uint64_t file = fd_of("old");
  EXPECT_EQ(write_it(file, 100, 10), "100");
  EXPECT_EQ(one("path_unlink_file", "old"), "SUCCESS");
  EXPECT_EQ(ledger_.counts().bytes, 110U);
  EXPECT_TRUE(host_->leave());
  EXPECT_EQ(ledger_.counts().bytes, 0U);
}

TEST_F(FullVolume, a_guest_that_goes_while_its_file_is_cut_is_asked_again) {  // spec: F5
  const uint64_t size = 3 * limits::kFreedAtOnceBytes;
  volume::Ledger wide({.bytes = 10, .entries = 3});
  Host guest(World{.preopens = {{"/volume/tmp", true}}, .ledger = &wide}, clock, stdio, blocking);
  guest.bind(0, disk.open("tmp"));
  const auto asks = [&](std::string_view name, const std::vector<uint64_t>& words) {
    return shown(abi::find(imports(), name)->call(&guest, abi::GuestMemory(memory), words));
  };
  path("old");
  ASSERT_EQ(asks("path_open", {kTmp, 0, 1000, 3, 0, kReadWrite, 0, 0, 100}), "SUCCESS");
  ASSERT_EQ(asks("fd_filestat_set_size", {4, size}), "SUCCESS");
  EXPECT_EQ(wide.counts().bytes, size);
  blocking.hold = true;
  ASSERT_EQ(asks("fd_filestat_set_size", {4, 7}), "WAIT");
  blocking.run();
  EXPECT_TRUE(guest.leave()) << "it is done";
  EXPECT_EQ(wide.counts().bytes, 7U);
}

TEST_F(FullVolume, reads_of_other_trees_are_not_counted) {  // spec: F5
  volume::Ledger none({}, {});
  Host guest(World{.preopens = {{"/package"}}, .ledger = &none}, clock, stdio, blocking);
  guest.bind(0, disk.open("package"));
  path("f");
  EXPECT_EQ(shown(abi::find(imports(), "path_open")->call(&guest, abi::GuestMemory(memory), std::vector<uint64_t>{3, 0, 1000, 1, 0, kRead, 0, 0, 100})),
            "SUCCESS");
  EXPECT_EQ(none.counts(), Counts{});
}

// ---------------------------------------------------------------------------------------------- anything at once

constexpr Counts kMost{.bytes = 5 * limits::kFreedAtOnceBytes, .entries = 10};
constexpr std::array kNames{"a", "b", "c", "dir", "dir/a", "link"};

// Its tasks are done by a thread of its own, or when the story says so.
struct LateTasks final : Blocking {
  std::vector<std::shared_ptr<BlockingTask>> held;
  std::jthread thread;

  void hand_over(std::shared_ptr<BlockingTask> task) override { held.push_back(std::move(task)); }
  void begin() {
    finish();
    thread = std::jthread([tasks = std::exchange(held, {})] {
      for (const auto& task : tasks) task->run();
    });
  }
  void finish() {
    if (thread.joinable()) thread.join();
    for (const auto& task : std::exchange(held, {})) task->run();
  }
};

// One guest among several.
class Player {
 public:
  Player(const volume::Scratch& disk, volume::Ledger& ledger) : disk_(disk), ledger_(ledger) { begin(); }
  ~Player() { tasks_.finish(); }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  [[nodiscard]] bool waits() const { return !again_.empty(); }
  // Does what `word` says, or goes on with what it waits for.
  void act(uint32_t word) {
    const auto pick = [&word](uint32_t of) {
      const uint32_t picked = word % of;
      word /= of;
      return picked;
    };
    switch (const uint32_t what = pick(16); what) {
      case 0:
        return end();
      case 1:
        return tasks_.begin();
      default:
        if (waits()) return go_on();
        const uint32_t fd = 5 + pick(4);
        const uint64_t length = pick(2) == 0 ? pick(2000) : pick(6) * (limits::kFreedAtOnceBytes / 2);
        if (what < 5) return open(pick(kNames.size()), pick(2), pick(8));
        if (what < 7) return ask("fd_close", {fd});
        if (what == 7) return write(fd, length, pick(3000));
        if (what == 8) return write(fd, pick(3000), length);
        if (what == 9) return ask("fd_filestat_set_size", {fd, length});
        return rename_and_such(what, pick(kNames.size()), 3 + pick(2), pick(kNames.size()));
    }
  }
  void settle() {
    tasks_.finish();
    while (waits()) {
      go_on();
      tasks_.finish();
    }
  }
  // Sizes of files that are open and have no name.
  void add_unnamed(std::map<ino_t, uint64_t>& sizes) {
    for (uint32_t fd = 0; fd < 20; ++fd) {
      Descriptor* found = host_->descriptors().find(static_cast<FdNumber>(fd));
      struct stat now{};
      if (found == nullptr || found->file() == nullptr || ::fstat(found->file()->fd.get(), &now) != 0 || now.st_nlink > 0) continue;
      sizes[now.st_ino] = static_cast<uint64_t>(now.st_size);
    }
  }

 private:
  void begin() {
    again_.clear();
    host_.emplace(World{.preopens = {{"/volume/tmp", true}, {"/volume/data", true}}, .ledger = &ledger_, .descriptors = 9}, clock_, stdio_,
                  tasks_);
    host_->bind(0, disk_.open("tmp"));
    host_->bind(1, disk_.open("data"));
  }
  void end() {
    if (!host_->leave()) tasks_.finish();
    begin();
  }
  void go_on() {
    const auto [name, words] = *again_.begin();
    again_.clear();
    ask(name, words);
  }
  void ask(std::string_view name, const std::vector<uint64_t>& words) {
    if (shown(abi::find(imports(), name)->call(&*host_, abi::GuestMemory(memory_), words)) == "WAIT") again_.emplace(name, words);
  }
  uint64_t path(uint32_t name, size_t at) {
    const std::string_view text = kNames.at(name);
    std::memcpy(&memory_.at(at), text.data(), text.size());
    return text.size();
  }
  void open(uint32_t name, uint64_t tree, uint32_t how) {
    constexpr std::array<uint64_t, 8> kFlags{0, 0, 1, 1, 1, 1 | 4, 8, 1 | 8};
    const uint64_t size = path(name, 1000);
    ask("path_open", {3 + tree, how % 2, 1000, size, kFlags.at(how), how == 1 ? 2U : 66U, 0, how == 4 ? 1U : 0U, 100});
  }
  void write(uint64_t fd, uint64_t bytes, uint64_t at) {
    const std::array<uint32_t, 2> iovec{20000, static_cast<uint32_t>(std::min<uint64_t>(bytes, 40000))};
    std::memcpy(&memory_.at(200), iovec.data(), sizeof iovec);
    ask("fd_pwrite", {fd, 200, 1, at, 100});
  }
  void rename_and_such(uint32_t what, uint32_t name, uint64_t tree, uint32_t other) {
    const uint64_t size = path(name, 1000);
    const uint64_t other_size = path(other, 6000);
    if (what == 10) return ask("path_unlink_file", {3, 1000, size});
    if (what == 11) return ask("path_rename", {3, 1000, size, tree, 6000, other_size});
    if (what == 12) return ask("path_link", {3, 0, 1000, size, tree, 6000, other_size});
    if (what == 13) return ask("path_symlink", {1000, size, tree, 6000, other_size});
    if (what == 14) return ask("path_create_directory", {tree, 1000, size});
    ask("path_remove_directory", {tree, 1000, size});
  }

  const volume::Scratch& disk_;
  volume::Ledger& ledger_;
  StillClock clock_;
  StringStdio stdio_;
  LateTasks tasks_;
  std::optional<Host> host_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(65536);
  std::map<std::string, std::vector<uint64_t>> again_;  // the call that waits
};

void play(const std::vector<uint32_t>& story) {
  volume::Scratch disk;
  disk.directory("tmp");
  disk.directory("data");
  volume::Ledger ledger({}, kMost);
  std::array<std::unique_ptr<Player>, 3> players;
  for (auto& player : players) player = std::make_unique<Player>(disk, ledger);
  for (const uint32_t word : story) {
    players.at(word % 3)->act(word / 3);
    RC_ASSERT(ledger.counts().bytes <= kMost.bytes);
    RC_ASSERT(ledger.counts().entries <= kMost.entries);
    // What is being cut is known when it has been.
    if (std::ranges::any_of(players, [](const auto& player) { return player->waits(); })) continue;
    Counts expected = recount(disk);
    std::map<ino_t, uint64_t> unnamed;
    for (auto& player : players) player->add_unnamed(unnamed);
    for (const auto& [inode, size] : unnamed) expected.bytes += size;
    RC_ASSERT(ledger.counts().bytes == expected.bytes);
    RC_ASSERT(ledger.counts().entries == expected.entries);
  }
  for (auto& player : players) player->settle();
  for (auto& player : players) player.reset();
  const Counts last = recount(disk);
  RC_ASSERT(ledger.counts().bytes == last.bytes);
  RC_ASSERT(ledger.counts().entries == last.entries);
}

TEST(Volume, the_ledger_equals_a_recount_whatever_guests_do_at_once) {  // spec: F5
  const bool holds = rc::check([] {
    const auto word = rc::gen::inRange<uint32_t>(0, UINT32_MAX);
    play(*rc::gen::container<std::vector<uint32_t>>(300, word));
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace subako::wasi
