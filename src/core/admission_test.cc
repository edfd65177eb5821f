#include "core/admission.h"

#include <gtest/gtest.h>

#include <string>

namespace subako::core {
namespace {

using namespace std::chrono_literals;
using limits::kMiB;
using Ticket = Admission::Ticket;

class AdmissionTest : public ::testing::Test {
 protected:
  void make(uint32_t workers, uint32_t guests, uint64_t memory = 100 * limits::kGiB) {
    Admission::Limits limits;
    limits.workers = workers;
    limits.guests = guests;
    limits.memory = memory;
    limits.queued = 10'000;
    limits.queued_of_session = 5000;
    make(limits);
  }
  void make(const Admission::Limits& limits) { admission_ = std::make_unique<Admission>(limits); }
  Ticket join(uint64_t session, uint64_t memory = kMiB, uint64_t version = 1) {
    const auto ticket = admission_->join({.session = session, .version = version, .memory = memory});
    EXPECT_TRUE(ticket) << ticket.error();
    return ticket.value_or(0);
  }
  // Those that start now.
  std::vector<Ticket> start() {
    std::vector<Ticket> out;
    for (const auto& one : admission_->start()) {
      out.push_back(one.ticket);
      where_[one.ticket] = one.worker;
      apart_[one.ticket] = one.apart;
    }
    return out;
  }
  std::optional<Admission::Worker> leave(Ticket ticket) { return admission_->leave(ticket, time_ += 10ms); }
  bool together(Ticket one, Ticket other) { return where_.at(one) == where_.at(other); }

  std::unique_ptr<Admission> admission_;
  std::map<Ticket, Admission::Worker> where_;
  std::map<Ticket, bool> apart_;
  Admission::Time time_{1h};
};

using Tickets = std::vector<Ticket>;

TEST_F(AdmissionTest, one_sessions_thousand_delay_anothers_one_by_one_turn_at_most) {  // spec: P8
  make(1, 1);
  Tickets many;
  for (int i = 0; i < 1000; ++i) many.push_back(join(1));
  EXPECT_EQ(start(), Tickets{many[0]});
  const Ticket other = join(2);
  EXPECT_EQ(start(), Tickets());
  leave(many[0]);
  EXPECT_EQ(start(), Tickets{many[1]}) << "first come, first served within a session";
  leave(many[1]);
  EXPECT_EQ(start(), Tickets{other});
  leave(other);
  EXPECT_EQ(start(), Tickets{many[2]});
}

TEST_F(AdmissionTest, sessions_take_turns) {
  make(1, 1);
  const Tickets a{join(1), join(1), join(1)};
  const Tickets b{join(2), join(2)};
  const Ticket none = join(0);
  const Ticket another = join(0);
  Tickets order;
  for (Tickets next = start(); !next.empty(); next = start()) {
    ASSERT_EQ(next.size(), 1U);
    order.push_back(next[0]);
    leave(next[0]);
  }
  EXPECT_EQ(order, (Tickets{a[0], b[0], none, another, a[1], b[1], a[2]}));
  EXPECT_EQ(admission_->committed(), 0U);
}

TEST_F(AdmissionTest, free_slots_are_filled_in_turns_at_once) {
  make(1, 4);
  const Tickets a{join(1), join(1), join(1), join(1)};
  const Ticket b = join(2);
  EXPECT_EQ(start(), (Tickets{a[0], b, a[1], a[2]}));
}

TEST_F(AdmissionTest, a_session_is_in_one_worker_at_a_time) {  // spec: F5
  make(3, 2);
  const Ticket first = join(1);
  const Ticket second = join(1);
  const Ticket third = join(1);
  const Ticket other = join(2);
  EXPECT_EQ(start(), (Tickets{first, other, second}));
  EXPECT_TRUE(together(first, second));
  EXPECT_FALSE(together(first, other)) << "a new worker rather than one that has calls";
  EXPECT_EQ(start(), Tickets()) << "its worker is full, though others aren't";
  leave(first);
  EXPECT_EQ(start(), Tickets{third});
  EXPECT_TRUE(together(second, third));
  leave(second);
  leave(third);
  const Ticket later = join(1);
  EXPECT_EQ(start(), Tickets{later}) << "it may move when none is under way";
}

TEST_F(AdmissionTest, a_session_waits_for_the_end_of_what_ran_in_a_dead_worker) {  // spec: F5
  make(2, 4);
  const Ticket first = join(1);
  const Ticket second = join(1);
  EXPECT_EQ(start().size(), 2U);
  admission_->worker_gone(where_[first]);
  const Ticket next = join(1);
  EXPECT_EQ(start(), Tickets());
  leave(first);
  EXPECT_EQ(start(), Tickets());
  leave(second);
  EXPECT_EQ(start(), Tickets{next});
  EXPECT_FALSE(together(first, next));
}

TEST_F(AdmissionTest, calls_spread_over_workers) {
  make(2, 10);
  Tickets all;
  for (int i = 0; i < 6; ++i) all.push_back(join(0));
  EXPECT_EQ(start(), all);
  std::map<Admission::Worker, int> counts;
  for (const Ticket one : all) ++counts[where_[one]];
  EXPECT_EQ(counts.size(), 2U);
  for (const auto& [worker, count] : counts) EXPECT_EQ(count, 3);
}

TEST_F(AdmissionTest, a_worker_may_have_fewer_slots_than_it_was_asked_for) {
  make(1, 10);
  const Ticket first = join(0);
  EXPECT_EQ(start(), Tickets{first});
  admission_->worker_can(where_[first], 2);
  const Ticket second = join(0);
  const Ticket third = join(0);
  EXPECT_EQ(start(), Tickets{second});
  leave(first);
  EXPECT_EQ(start(), Tickets{third});
  admission_->worker_can(where_[first], 100);
  (void)join(0);
  EXPECT_EQ(start(), Tickets()) << "it isn't more than was asked for";
}

TEST_F(AdmissionTest, queues_are_bounded) {
  Admission::Limits limits;
  limits.memory = kMiB;
  limits.queued = 3;
  limits.queued_of_session = 2;
  limits.queued_bytes = 10;
  make(limits);
  const Ticket running = join(1);
  EXPECT_EQ(start(), Tickets{running});
  (void)join(1);
  (void)join(1);
  EXPECT_EQ(admission_->join({.session = 1, .version = 1}).error(), "2 calls of this session wait already");
  EXPECT_EQ(admission_->join({.session = 2, .version = 1, .queued_bytes = 11}).error(),
            "the arguments of the 2 calls that wait take 0 MiB already");
  const Ticket third = join(2);
  EXPECT_EQ(admission_->join({.session = 3, .version = 1}).error(), "3 calls wait for a worker already");
  EXPECT_TRUE(admission_->join({.session = 3, .version = 1, .again = true}))
      << "what had started isn't turned away";
  EXPECT_EQ(admission_->waiting(), 4U);
  leave(third);
  EXPECT_EQ(admission_->waiting(), 3U);
}

TEST_F(AdmissionTest, who_is_cancelled_leaves_at_once) {  // spec: C12
  make(1, 1);
  const Ticket first = join(1);
  const Ticket second = join(1);
  const Ticket third = join(1);
  EXPECT_EQ(start(), Tickets{first});
  leave(second);
  EXPECT_EQ(admission_->waiting(), 1U);
  leave(first);
  EXPECT_EQ(start(), Tickets{third});
  leave(third);
  leave(third);  // once is enough
  EXPECT_EQ(admission_->committed(), 0U);
}

TEST_F(AdmissionTest, no_more_start_than_memory_lasts) {
  make(1, 100, 600 * kMiB);
  Tickets all;
  for (int i = 0; i < 5; ++i) all.push_back(join(0, 250 * kMiB));
  EXPECT_EQ(start(), (Tickets{all[0], all[1]}));
  leave(all[1]);
  EXPECT_EQ(start(), Tickets{all[2]});
}

TEST_F(AdmissionTest, one_that_waits_for_memory_is_overtaken_but_not_for_ever) {
  make(1, 1000, 1000 * kMiB);
  const Ticket holds = join(0, 600 * kMiB);
  EXPECT_EQ(start(), Tickets{holds});
  const Ticket large = join(0, 500 * kMiB);
  for (uint32_t i = 0; i < limits::kOvertaken; ++i) {
    const Ticket small = join(0, kMiB);
    EXPECT_EQ(start(), Tickets{small});
    leave(small);
  }
  const Ticket small = join(0, kMiB);
  EXPECT_EQ(start(), Tickets()) << "now it is the large one's turn";
  leave(holds);
  EXPECT_EQ(start(), (Tickets{large, small}));
}

TEST_F(AdmissionTest, a_worker_gets_more_memory_as_long_as_there_is_some) {  // spec: L2
  make(2, 10, 600 * kMiB);
  const Ticket one = join(0, 100 * kMiB);
  const Ticket two = join(0, 100 * kMiB);
  EXPECT_EQ(start().size(), 2U);
  const auto worker = where_[one];
  EXPECT_EQ(admission_->widen(worker, 10 * kMiB, 20 * kMiB), 20 * kMiB);
  EXPECT_EQ(admission_->widen(where_[two], 350 * kMiB, 400 * kMiB), 380 * kMiB)
      << "what there is, which suffices";
  EXPECT_EQ(admission_->widen(worker, 1, kMiB), 0U);
  EXPECT_TRUE(admission_->give_back(where_[two], 100 * kMiB));
  EXPECT_EQ(admission_->widen(worker, 101 * kMiB, 200 * kMiB), 0U);
  EXPECT_FALSE(admission_->give_back(where_[two], 281 * kMiB)) << "more than it has";
  EXPECT_EQ(admission_->committed(), 500 * kMiB);
  admission_->worker_gone(where_[two]);
  EXPECT_EQ(admission_->committed(), 220 * kMiB);
  EXPECT_EQ(admission_->widen(where_[two], 1, 1), 0U);
  EXPECT_TRUE(admission_->give_back(where_[two], 1)) << "it was on its way";
}

TEST_F(AdmissionTest, a_worker_gets_no_more_than_its_guests_can_have) {
  make(1, 10);
  const Ticket one = join(0);
  EXPECT_EQ(start().size(), 1U);
  EXPECT_EQ(admission_->widen(where_[one], 1, limits::kGiB), limits::kFullGuestBytes);
  EXPECT_EQ(admission_->widen(where_[one], 1, limits::kGiB), 0U);
}

TEST_F(AdmissionTest, what_a_worker_does_not_give_back_is_free_when_its_runs_have_ended) {  // spec: L2
  make(1, 4, 100 * kMiB);
  const Ticket one = join(1);
  EXPECT_EQ(start(), Tickets{one});
  EXPECT_EQ(admission_->widen(where_[one], kMiB, 50 * kMiB), 50 * kMiB);
  leave(one);
  EXPECT_EQ(admission_->committed(), 0U);
  const Ticket other = join(2);
  EXPECT_EQ(start(), Tickets{other});
  EXPECT_EQ(admission_->widen(where_[other], kMiB, 10 * kMiB), 10 * kMiB);
  EXPECT_TRUE(admission_->give_back(where_[other], 50 * kMiB)) << "of the first, which is late";
  EXPECT_EQ(admission_->committed(), 11 * kMiB);
  EXPECT_FALSE(admission_->give_back(where_[other], 11 * kMiB));
  EXPECT_TRUE(admission_->give_back(where_[other], 10 * kMiB));
  EXPECT_EQ(admission_->committed(), kMiB);
}

TEST_F(AdmissionTest, a_version_apart_runs_with_nobody_else) {
  make(1, 10);
  admission_->set_apart(7, true);
  const Ticket ordinary = join(1);
  const Ticket one = join(2, kMiB, 7);
  const Ticket two = join(3, kMiB, 7);
  const Ticket after = join(4);
  EXPECT_EQ(start(), (Tickets{ordinary, one, two, after}));
  EXPECT_TRUE(together(one, two));
  EXPECT_FALSE(together(one, ordinary));
  EXPECT_TRUE(together(after, ordinary));
  EXPECT_TRUE(apart_[one]);
  EXPECT_FALSE(apart_[after]);
  EXPECT_EQ(leave(one), std::nullopt);
  EXPECT_EQ(leave(two), where_[two]) << "nobody needs its worker any more";
  EXPECT_EQ(leave(ordinary), std::nullopt);
}

TEST_F(AdmissionTest, a_session_waits_for_its_other_calls_before_it_goes_apart_and_after) {
  make(1, 10);
  admission_->set_apart(7, true);
  const Ticket first = join(1);
  EXPECT_EQ(start(), Tickets{first});
  const Ticket dangerous = join(1, kMiB, 7);
  const Ticket last = join(1);
  const Ticket others = join(2);
  EXPECT_EQ(start(), Tickets{others}) << "which hold up nobody else";
  leave(first);
  EXPECT_EQ(start(), Tickets{dangerous});
  EXPECT_EQ(start(), Tickets());
  leave(dangerous);
  EXPECT_EQ(start(), Tickets{last});
}

TEST_F(AdmissionTest, workers_apart_are_few) {
  make(1, 10);
  Tickets all;
  for (uint64_t version = 10; version < 15; ++version) {
    admission_->set_apart(version, true);
    all.push_back(join(version, kMiB, version));
  }
  EXPECT_EQ(start(), (Tickets{all[0], all[1]}));
  leave(all[1]);
  EXPECT_EQ(start(), Tickets{all[2]});
  admission_->set_apart(14, false);
  EXPECT_EQ(start(), Tickets{all[4]}) << "it is as others again";
}

// A worker that is shut into the trees of its first run.
TEST_F(AdmissionTest, a_worker_is_for_runs_with_the_trees_of_its_first) {
  make(2, 4);
  const auto with = [this](uint64_t session, uint64_t trees) {
    return admission_->join({.session = session, .version = 1, .trees = trees, .memory = kMiB}).value();
  };
  const Ticket a = with(1, 7);
  const Ticket b = with(2, 8);
  const Ticket same = with(3, 7);
  EXPECT_EQ(start().size(), 3U);
  EXPECT_FALSE(together(a, b));
  EXPECT_TRUE(together(a, same));
  const Ticket other = with(4, 9);
  const Ticket more_of_1 = with(1, 9);
  EXPECT_EQ(start(), Tickets()) << "both workers are for others' trees";
  leave(b);
  const auto started = admission_->start();
  ASSERT_EQ(started.size(), 1U);
  EXPECT_EQ(started[0].ticket, other);
  EXPECT_EQ(started[0].instead_of, where_.at(b)) << "an idle one gives way";
  EXPECT_NE(started[0].worker, where_.at(b));
  leave(a);
  EXPECT_EQ(start(), Tickets{more_of_1}) << "its session runs nowhere else any more";
  EXPECT_EQ(where_.at(more_of_1), started[0].worker);
}

TEST_F(AdmissionTest, says_when_to_try_again_by_how_fast_slots_come_free) {
  make(1, 1);
  EXPECT_EQ(admission_->retry_after(time_), limits::kRetryAfterLeast) << "nothing is known yet";
  for (int i = 0; i < 1000; ++i) (void)join(0);
  for (int i = 0; i < 100; ++i) {
    const Tickets next = start();
    ASSERT_EQ(next.size(), 1U);
    leave(next[0]);
  }
  EXPECT_GE(admission_->retry_after(time_), 8s) << "900 wait, and each takes 10 ms";
  EXPECT_LE(admission_->retry_after(time_), 10s);
  EXPECT_EQ(admission_->retry_after(time_ + 1h), limits::kRetryAfterMost) << "nothing has ended for long";
}

TEST_F(AdmissionTest, any_worker_is_an_idle_one_or_the_one_with_the_fewest_calls) {
  make(2, 10);
  const auto first = admission_->any_worker();
  EXPECT_EQ(admission_->any_worker(), first) << "it is idle";
  const Ticket call = join(0);
  EXPECT_EQ(start(), Tickets{call});
  EXPECT_EQ(where_[call], first);
  const auto second = admission_->any_worker();
  EXPECT_NE(second, first);
  (void)join(0);
  (void)join(0);
  (void)start();
  EXPECT_NE(admission_->any_worker(), 0U);
}

}  // namespace
}  // namespace subako::core
