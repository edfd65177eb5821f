// A node's memory budget, with the real children and the guests of guests/hold (docs/decisions/0015).
#include <signal.h>

#include <cstdio>

#include "base/proc_text.h"
#include "node/guests_fixture.h"

namespace subako::core {
namespace {

uint64_t resident(const std::string& pid) {
  std::ifstream status("/proc/" + pid + "/status");
  const std::string text{std::istreambuf_iterator<char>(status), {}};
  return line_number(text, "VmRSS").value_or(0) * limits::kKiB;
}

class Memory : public Guests {
 protected:
  void SetUp() override {}
  void start_with(uint32_t workers, uint64_t memory_bytes, uint32_t guests = 64) {
    options_.memory_bytes = memory_bytes;
    options_.guests_per_worker = guests;
    start(workers);
  }
  bool ended(const std::vector<Held*>& calls) {
    return std::ranges::all_of(calls, [](const Held* h) { return h->record.has_value(); });
  }
  static std::string end_of(const Held& held) {
    if (const auto* answered = std::get_if<protocol::Answered>(&held.record->outcome)) return answered->result;
    if (const auto* crash = std::get_if<protocol::Crash>(&held.record->outcome)) return crash->message;
    return "cancelled";
  }
  uint64_t resident_of_workers() {
    uint64_t sum = 0;
    for (const std::string& pid : worker_processes()) sum += resident(pid);
    return sum;
  }
  void take(const std::string& mib) {  // once, so that it is known
    Held& held = call("hold_memory", 60s, "{\"mib\":" + mib + "}");
    ASSERT_TRUE(run_until([&] { return held.record.has_value(); }, 60s));
    ASSERT_NE(end_of(held).find("held " + mib), std::string::npos) << end_of(held);
  }
};

TEST_F(Memory, thirty_that_take_300_mib_run_one_after_the_other_in_600) {  // spec: L2, P8
  constexpr uint64_t kBudget = 600 * limits::kMiB;
  start_with(2, kBudget + limits::kWorkerBytes, 16);
  take("300");
  std::vector<Held*> all;
  for (int i = 0; i < 30; ++i) all.push_back(&call("hold_memory", 60s, R"({"mib":300,"ms":20})"));
  uint64_t most = 0;
  ASSERT_TRUE(run_until(
      [&] {
        most = std::max(most, resident_of_workers());
        return ended(all);
      },
      120s));
  for (const Held* one : all) EXPECT_NE(end_of(*one).find("held 300 MiB"), std::string::npos) << end_of(*one);
  std::printf("resident of the workers at most: %.0f MiB of %.0f\n", static_cast<double>(most) / limits::kMiB,
              static_cast<double>(kBudget + limits::kWorkerBytes) / limits::kMiB);
  EXPECT_LT(most, kBudget + limits::kWorkerBytes);
}

TEST_F(Memory, one_guest_alone_reaches_its_limit_in_the_smallest_budget) {  // spec: L2
  start_with(1, limits::kFullGuestBytes + limits::kWorkerBytes);
  Held& held = call("hold_memory", 60s, R"({"mib":510})");
  ASSERT_TRUE(run_until([&] { return held.record.has_value(); }, 60s));
  EXPECT_NE(end_of(held).find("held 510 MiB"), std::string::npos) << end_of(held);
  Held& more = call("hold_memory", 60s, R"({"mib":513})");
  ASSERT_TRUE(run_until([&] { return more.record.has_value(); }, 60s));
  EXPECT_NE(end_of(more).find("no memory"), std::string::npos) << "that is L2's";
}

TEST_F(Memory, a_growth_is_refused_only_when_the_budget_is_used_up_and_is_the_nodes_fault) {  // spec: C9, L2
  start_with(2, 1000 * limits::kMiB, 2);
  Held& first = call("hold_memory", 60s, R"({"mib":400,"ms":60000})");
  ASSERT_TRUE(run_until([&] { return first.holding; }, 60s));
  Held& second = call("hold_memory", 60s, R"({"mib":400,"ms":60000})");
  ASSERT_TRUE(run_until([&] { return second.holding || second.record; }, 60s));
  EXPECT_TRUE(second.holding) << "there was room, in another worker";
  Held& third = call("need_memory", 60s, R"({"mib":400})");
  ASSERT_TRUE(run_until([&] { return third.record.has_value(); }, 60s));
  const auto* crash = std::get_if<protocol::Crash>(&third.record->outcome);
  ASSERT_NE(crash, nullptr);
  EXPECT_EQ(crash->cause, protocol::Cause::kHost) << crash->message;
  EXPECT_TRUE(crash->message.starts_with("this node is out of memory for guests: try again in a moment")) << crash->message;
  first.cancel();
  ASSERT_TRUE(run_until([&] { return first.record.has_value(); }, 10s));
  Held& fourth = call("need_memory", 60s, R"({"mib":400})");
  ASSERT_TRUE(run_until([&] { return fourth.record.has_value(); }, 60s));
  EXPECT_NE(end_of(fourth).find("got it"), std::string::npos) << end_of(fourth);
  second.cancel();
  ASSERT_TRUE(run_until([&] { return second.record.has_value(); }, 10s));
}

TEST_F(Memory, what_a_killed_worker_had_is_free_again_and_who_waited_runs) {  // spec: C9
  start_with(1, 600 * limits::kMiB);
  take("300");
  Held& first = call("hold_memory", 60s, R"({"mib":300,"ms":60000})");
  ASSERT_TRUE(run_until([&] { return first.holding; }, 60s));
  std::vector<Held*> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(&call("hold_memory", 60s, R"({"mib":300})"));
  run_until([] { return false; }, 50ms);
  const std::set<std::string> workers = worker_processes();
  ASSERT_EQ(workers.size(), 1U);
  kill(std::stoi(*workers.begin()), SIGKILL);
  ASSERT_TRUE(run_until([&] { return first.record && ended(waiting); }, 60s));
  EXPECT_EQ(std::get<protocol::Crash>(first.record->outcome).cause, protocol::Cause::kHost);
  for (const Held* one : waiting) EXPECT_NE(end_of(*one).find("held 300 MiB"), std::string::npos) << end_of(*one);
}

#ifdef __SANITIZE_ADDRESS__
constexpr uint64_t kHeapBytes = 256 * limits::kMiB;  // a sanitizer keeps what was freed for a while
#else
constexpr uint64_t kHeapBytes = 32 * limits::kMiB;
#endif

// What the slots keep is within their share of the budget at once, and is given back when the worker has been idle for a while.
TEST_F(Memory, what_is_resident_after_many_guests_is_bounded) {  // spec: L2
  start_with(1, 4 * limits::kGiB, 256);
  (void)time_an_answer();
  const uint64_t before = resident_of_workers();
  std::vector<Held*> all;
  for (int i = 0; i < 1000; ++i) all.push_back(&call("hold_memory", 60s, R"({"mib":2,"ms":20})"));
  ASSERT_TRUE(run_until([&] { return ended(all); }, 60s));
  const uint64_t after = resident_of_workers();
  EXPECT_LT(after, before + 256 * (limits::kKeptMemoryBytes + limits::kKeptStackBytes) + kHeapBytes);
  run_until([] { return false; }, limits::kWorkerIdleTrim + 500ms);
  const uint64_t idle = resident_of_workers();
  std::printf("resident of the worker: %.0f MiB, after 1,000 guests %.0f MiB, idle %.0f MiB\n",
              static_cast<double>(before) / limits::kMiB, static_cast<double>(after) / limits::kMiB,
              static_cast<double>(idle) / limits::kMiB);
  EXPECT_LT(idle, before + kHeapBytes);
  (void)time_an_answer();
  take("2");
}

}  // namespace
}  // namespace subako::core
