#include "volume/ledger.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "volume/scratch_test.h"

namespace subako::volume {
namespace {

constexpr uint64_t kNoneLeft = ~uint64_t{0};

class Ledgers : public ::testing::Test {
 protected:
  CountedFile open(std::string_view name, int flags = O_RDWR) {
    Fd fd(::open(scratch_.at(name).c_str(), flags | O_CLOEXEC, 0600));
    struct stat found{};
    ::fstat(fd.get(), &found);
    return CountedFile(std::move(fd), ledger_, found);
  }
  void resize(std::string_view name, uint64_t size) { std::filesystem::resize_file(scratch_.at(name), size); }
  void unlink(std::string_view name) {
    const struct stat was = scratch_.stat(name);
    std::filesystem::remove(scratch_.at(name));
    ledger_.removed(was);
  }

  Scratch scratch_;
  Ledger ledger_{{.bytes = 60, .entries = 2}, {.bytes = 100, .entries = 3}};
};

TEST_F(Ledgers, what_lies_within_a_file_may_be_written_and_what_is_behind_it_as_far_as_there_is_room) {  // spec: F5
  struct Row {
    const char* what;
    uint64_t offset, size, wanted, allowed;
  };
  for (const Row& row : {Row{"append", 10, 10, 5, 5}, Row{"to the border", 10, 10, 50, 40}, Row{"in place", 0, 1000, 500, 500},
                         Row{"across the end", 8, 10, 100, 42}, Row{"a hole", 49, 10, 5, 1}, Row{"a hole too large", 50, 10, 5, 0},
                         Row{"far away", kNoneLeft, 10, 5, 0}, Row{"nothing", 10, 10, 0, 0}}) {
    EXPECT_EQ(ledger_.allowed(row.offset, row.size, row.wanted), row.allowed) << row.what;
  }
  EXPECT_TRUE(ledger_.allows_size(10, 50));
  EXPECT_FALSE(ledger_.allows_size(10, 51));
  EXPECT_TRUE(ledger_.allows_size(1000, 1000));
  EXPECT_TRUE(ledger_.allows_size(1000, 3));
}

TEST(Ledger, one_that_holds_more_than_it_may_is_just_full) {  // spec: F5
  Ledger ledger({.bytes = 500, .entries = 7}, {.bytes = 100, .entries = 3});
  EXPECT_EQ(ledger.allowed(10, 10, 1), 0U);
  EXPECT_EQ(ledger.allowed(0, 10, 20), 10U);
  EXPECT_FALSE(ledger.allows_size(10, 11));
  EXPECT_EQ(ledger.room(), Room::kNone);
  ledger.removed();
  EXPECT_EQ(ledger.room(), Room::kNone);
  EXPECT_EQ(ledger.counts().entries, 6U);
}

TEST(Ledger, never_counts_below_nothing) {
  Ledger ledger;
  struct stat was{};
  was.st_mode = S_IFREG;
  was.st_nlink = 1;
  was.st_size = 10;
  ledger.removed(was);
  ledger.removed();
  EXPECT_EQ(ledger.counts(), Counts{});
}

TEST_F(Ledgers, there_is_room_for_entries_up_to_the_limit) {  // spec: F5
  EXPECT_EQ(ledger_.room(), Room::kYes);
  ledger_.made();
  EXPECT_EQ(ledger_.room(), Room::kNone);
  ledger_.removed();
  EXPECT_EQ(ledger_.room(), Room::kYes);
}

TEST_F(Ledgers, each_settling_corrects_what_was_counted) {  // spec: F5
  scratch_.file("f", "hello");
  CountedFile first = open("f");
  CountedFile second = open("f");
  EXPECT_EQ(ledger_.counts().bytes, 60U) << "it was counted before";
  first.settle(25);
  EXPECT_EQ(ledger_.counts().bytes, 80U);
  second.settle(25);
  EXPECT_EQ(ledger_.counts().bytes, 80U) << "it is one file";
  second.settle(10);
  EXPECT_EQ(ledger_.counts().bytes, 65U);
}

TEST_F(Ledgers, a_close_settles_by_what_the_file_is_by_then) {  // spec: F5
  scratch_.file("f", "hello");
  {
    const CountedFile file = open("f");
    resize("f", 12);
  }
  EXPECT_EQ(ledger_.counts().bytes, 67U);
  CountedFile file = open("f");
  resize("f", 2);
  file.uncount(2);
  EXPECT_EQ(ledger_.counts().bytes, 57U);
  resize("f", 4);
  EXPECT_TRUE(std::move(file).take().valid());
  EXPECT_EQ(ledger_.counts().bytes, 57U) << "it has been forgotten";
}

TEST_F(Ledgers, a_removed_file_is_given_back_at_its_last_close) {  // spec: F5
  scratch_.file("f", std::string(30, 'x'));
  std::optional<CountedFile> first(open("f"));
  std::optional<CountedFile> second(open("f", O_RDONLY));
  unlink("f");
  EXPECT_EQ(ledger_.counts(), (Counts{60, 1}));
  first.reset();
  EXPECT_EQ(ledger_.counts(), (Counts{60, 1}));
  second.reset();
  EXPECT_EQ(ledger_.counts(), (Counts{30, 1}));
}

TEST_F(Ledgers, a_removed_file_that_nobody_has_open_is_given_back_at_once) {  // spec: F5
  scratch_.file("f", std::string(30, 'x'));
  std::filesystem::create_hard_link(scratch_.at("f"), scratch_.at("g"));
  unlink("f");
  EXPECT_EQ(ledger_.counts(), (Counts{60, 1})) << "it has another name";
  unlink("g");
  EXPECT_EQ(ledger_.counts(), (Counts{30, 0}));
}

}  // namespace
}  // namespace subako::volume
