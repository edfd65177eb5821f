#include "wasi/guest_test.h"

namespace subako::wasi {
namespace {

constexpr uint64_t kMs = 1'000'000;

class Poll : public Guest {
 protected:
  void add_clock(uint32_t id, uint64_t timeout, bool absolute = false, uint64_t userdata = 0) {
    add({.userdata = userdata,
         .tag = 0,
         .clock_or_fd = id,
         .timeout = timeout,
         .flags = absolute ? ClockFlags::kAbstime : ClockFlags::kNone});
  }
  void add_fd(EventType type, uint32_t fd, uint64_t userdata = 0) {
    add({.userdata = userdata, .tag = static_cast<uint8_t>(type), .clock_or_fd = fd});
  }
  void add(const Subscription& one) { put(20000 + 48 * count_++, one); }
  std::string poll() { return call("poll_oneoff", {20000, 40000, count_, 104}); }
  uint32_t happened() { return get<uint32_t>(104); }
  Event event(size_t index) { return get<Event>(40000 + 32 * index); }
  uint64_t count_ = 0;
};

TEST_F(Poll, nothing_to_wait_for_is_invalid) {
  EXPECT_EQ(poll(), "INVAL");
}  // spec: F2

TEST_F(Poll, a_sleep_ends_at_its_time_however_often_it_is_looked_at) {  // spec: F8
  add_clock(1, 5 * kMs, false, 77);
  EXPECT_EQ(poll(), "WAIT");
  EXPECT_EQ(host.wake().at, clock.now + 5 * static_cast<int64_t>(kMs));
  EXPECT_FALSE(host.wake().stdin || host.wake().now);
  const Nanoseconds start = clock.now;
  clock.now += 3 * static_cast<int64_t>(kMs);
  EXPECT_EQ(poll(), "WAIT");
  EXPECT_EQ(host.wake().at, start + 5 * static_cast<int64_t>(kMs));
  clock.now = start + 5 * static_cast<int64_t>(kMs);
  EXPECT_EQ(poll(), "SUCCESS");
  EXPECT_EQ(happened(), 1U);
  EXPECT_EQ(event(0).userdata, 77U);
  EXPECT_EQ(event(0).type, EventType::kClock);
  EXPECT_EQ(event(0).error, Errno::kSuccess);
  // The next sleep is one of its own.
  EXPECT_EQ(poll(), "WAIT");
  EXPECT_EQ(host.wake().at, clock.now + 5 * static_cast<int64_t>(kMs));
}

TEST_F(Poll, absolute_times_and_far_ones_never_overflow) {  // spec: F8
  struct Row {
    uint32_t id;
    uint64_t timeout;
    bool absolute;
    std::optional<Nanoseconds> wake;
  };
  for (const Row& row :
       {Row{1, 1, true, std::nullopt}, Row{0, 1, true, std::nullopt}, Row{1, 0, false, std::nullopt},
        Row{0, 1'700'000'000'000'000'500, true, 1'000'500}, Row{0, 500, false, 1'000'500},
        Row{1, 2'000'000, true, 2'000'000}, Row{1, ~uint64_t{0}, false, INT64_MAX},
        Row{1, ~uint64_t{0}, true, INT64_MAX}, Row{0, ~uint64_t{0}, true, INT64_MAX},
        Row{0, uint64_t{1} << 63U, false, INT64_MAX}}) {
    count_ = 0;
    add_clock(row.id, row.timeout, row.absolute);
    EXPECT_EQ(poll(), row.wake ? "WAIT" : "SUCCESS") << row.id << " " << row.timeout;
    if (row.wake) {
      EXPECT_EQ(host.wake().at, row.wake) << row.id << " " << row.timeout;
    }
    (void)host.take_progress();
  }
}

TEST_F(Poll, a_moved_wall_clock_moves_no_sleep) {
  add_clock(0, static_cast<uint64_t>(clock.wall) + 500, true);
  EXPECT_EQ(poll(), "WAIT");
  clock.wall -= 1'000'000'000;
  EXPECT_EQ(poll(), "WAIT");
  EXPECT_EQ(host.wake().at, clock.now + 500);
}

TEST_F(Poll, stdin_is_ready_with_input_or_at_its_end) {  // spec: C5
  add_fd(EventType::kFdRead, 0, 5);
  add_clock(1, 5 * kMs, false, 6);
  EXPECT_EQ(poll(), "WAIT");
  EXPECT_TRUE(host.wake().stdin);
  EXPECT_TRUE(host.wake().at);
  stdio.input = "abc";
  EXPECT_EQ(poll(), "SUCCESS");
  EXPECT_EQ(happened(), 1U);
  EXPECT_EQ(event(0).userdata, 5U);
  EXPECT_EQ(event(0).bytes, 3U);
  EXPECT_EQ(event(0).flags, EventFlags::kNone);
  stdio.input.clear();
  stdio.closed = true;
  EXPECT_EQ(poll(), "SUCCESS");
  EXPECT_EQ(event(0).bytes, 0U);
  EXPECT_EQ(event(0).flags, EventFlags::kHangup);
}

TEST_F(Poll, outputs_and_files_are_ready_at_once) {
  disk.file("tmp/file", "hello");
  const auto file = static_cast<uint32_t>(opened("file", kReadWrite));
  EXPECT_EQ(read(file, 2), "he");
  add_clock(1, 200 * kMs);
  add_fd(EventType::kFdWrite, 1, 1);
  add_fd(EventType::kFdWrite, 2, 2);
  add_fd(EventType::kFdWrite, 1, 3);
  add_fd(EventType::kFdRead, file, 4);
  add_fd(EventType::kFdWrite, file, 5);
  EXPECT_EQ(poll(), "SUCCESS");
  ASSERT_EQ(happened(), 5U);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(event(i).userdata, i + 1);
  EXPECT_EQ(event(3).bytes, 3U);
}

TEST_F(Poll, a_timeout_of_nothing_never_waits) {  // spec: F8
  disk.file("tmp/file", "hello");
  const auto file = static_cast<uint32_t>(opened("file"));
  for (int i = 0; i < 3000; ++i) {
    count_ = 0;
    add_clock(static_cast<uint32_t>(i % 2), 0, false, 7);
    if (i % 3 == 0) add_fd(EventType::kFdWrite, 2);
    if (i % 5 == 0) add_fd(EventType::kFdRead, file);
    if (i % 7 == 0) add_fd(EventType::kFdRead, 0);  // never ready
    ASSERT_EQ(poll(), "SUCCESS");
    ASSERT_EQ(happened(), 1U + (i % 3 == 0 ? 1 : 0) + (i % 5 == 0 ? 1 : 0));
    ASSERT_EQ(event(0).userdata, 7U);
  }
}

TEST_F(Poll, bad_subscriptions_fail_the_call) {  // spec: F2
  const auto fails = [this](const Subscription& one) {
    count_ = 0;
    add(one);
    return poll();
  };
  EXPECT_EQ(fails({.tag = 7}), "INVAL");
  EXPECT_EQ(fails({.tag = 0, .clock_or_fd = 9}), "INVAL");
  EXPECT_EQ(fails({.tag = 0, .clock_or_fd = 2}), "INVAL");
  EXPECT_EQ(fails({.tag = 0, .clock_or_fd = 1, .flags = static_cast<ClockFlags>(2)}), "INVAL");
  EXPECT_EQ(fails({.tag = 1, .clock_or_fd = 99}), "BADF");
  EXPECT_EQ(fails({.tag = 1, .clock_or_fd = 1}), "BADF");
  EXPECT_EQ(fails({.tag = 2, .clock_or_fd = 0}), "BADF");
  EXPECT_EQ(fails({.tag = 1, .clock_or_fd = 3}), "BADF");
}

TEST_F(Poll, a_call_that_fails_writes_no_event) {  // spec: F2
  add_fd(EventType::kFdWrite, 1, 77);
  add_fd(EventType::kFdWrite, 99, 78);
  put(40000, uint64_t{0x5a});
  EXPECT_EQ(poll(), "BADF");
  EXPECT_EQ(get<uint64_t>(40000), 0x5aU);
}

TEST_F(Poll, a_huge_count_costs_nothing) {  // spec: F2
  EXPECT_EQ(call("poll_oneoff", {0, 1000, 10'000'000, 104}),
            "TRAP poll_oneoff: the pointer 0x0 and its 480000000 bytes lie outside memory");
  EXPECT_EQ(call("poll_oneoff", {0, 1000, 0x05555556, 104}),
            "TRAP poll_oneoff: the pointer 0x0 and its 4294967328 bytes lie outside memory");
  memory.resize(48 * 5000);
  EXPECT_EQ(call("poll_oneoff", {0, 0, 4097, 104}), "NOMEM");
  EXPECT_EQ(call("poll_oneoff", {0, 4, 1, 104}),
            "TRAP poll_oneoff: the pointer 0x4 is not aligned to 8 bytes");
}

TEST_F(Poll, events_may_lie_over_their_subscriptions) {
  for (uint64_t i = 0; i < 10; ++i) add_fd(EventType::kFdWrite, 1, i);
  EXPECT_EQ(call("poll_oneoff", {20000, 20000, 10, 104}), "SUCCESS");
  ASSERT_EQ(happened(), 10U);
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(get<Event>(20000 + 32 * i).userdata, i);
}

TEST_F(Poll, yielding_gives_others_one_turn) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(call("sched_yield", {}), "WAIT");
    EXPECT_TRUE(host.wake().now);
    EXPECT_EQ(call("sched_yield", {}), "SUCCESS");
  }
}

}  // namespace
}  // namespace subako::wasi
