// Workers that die while guests run, with the real children (docs/decisions/0015).
#include <signal.h>

#include "node/guests_fixture.h"

namespace subako::core {
namespace {

using WorkerDeaths = Guests;

std::string message_of(const Held& held) {
  const auto* crash = std::get_if<protocol::Crash>(&held.record->outcome);
  if (crash == nullptr) return "no crash";
  EXPECT_EQ(crash->cause, protocol::Cause::kHost);
  return crash->message;
}

TEST_F(WorkerDeaths, of_two_makes_the_version_run_by_itself) {  // spec: C9
  std::string told;
  for (int death = 1; death <= 2; ++death) {
    Held& held = call("hold");
    ASSERT_TRUE(run_until([&] { return held.holding; }, 30s));
    const std::set<std::string> workers = worker_processes();
    ASSERT_EQ(workers.size(), 1U);
    kill(std::stoi(*workers.begin()), SIGKILL);
    ASSERT_TRUE(run_until([&] { return held.record.has_value(); }, 10s));
    told = message_of(held);
    EXPECT_EQ(told.find("runs in a worker of its own") != std::string::npos, death == 2) << told;
  }
  Held& held = call("hold", 60s, R"({"ms":300})");
  Held& beside = call("answer");
  ASSERT_TRUE(run_until([&] { return held.holding && beside.record; }, 30s));
  EXPECT_EQ(worker_processes().size(), 1U) << "calls of the version share their worker";
  ASSERT_TRUE(run_until([&] { return held.record.has_value(); }, 30s));
  EXPECT_TRUE(std::holds_alternative<protocol::Answered>(held.record->outcome));
  ASSERT_TRUE(run_until([] { return worker_processes().empty(); }, 10s)) << "it ends when it is idle";
}

class BusyWorkerDeaths : public Guests {
  void SetUp() override {
    options_.guests_per_worker = 4;
    start(2);
  }
};

// Workers are killed while many calls come and wait: each ends, and those that had not begun are answered.
TEST_F(BusyWorkerDeaths, lose_no_call) {  // spec: C9
  std::vector<Held*> all;
  size_t answered = 0;
  std::vector<Trees> sessions(8);
  for (Trees& session : sessions) session.volume = volume(2 + static_cast<uint64_t>(&session - sessions.data()));
  for (int round = 0; round < 20; ++round) {
    for (size_t i = 0; i < 40; ++i) all.push_back(&call("hold", 60s, R"({"ms":3})", &sessions[i % sessions.size()]));
    run_until([] { return false; }, 10ms);
    const std::set<std::string> workers = worker_processes();
    if (!workers.empty()) kill(std::stoi(*workers.begin()), SIGKILL);
  }
  ASSERT_TRUE(run_until([&] { return std::ranges::all_of(all, [](Held* h) { return h->record.has_value(); }); }, 120s));
  for (const Held* held : all) {
    if (std::holds_alternative<protocol::Answered>(held->record->outcome)) {
      ++answered;
    } else {
      EXPECT_NE(message_of(*held).find("was killed by signal 9"), std::string::npos) << message_of(*held);
    }
  }
  std::printf("%zu calls, %zu of them answered, 20 workers killed\n", all.size(), answered);
  EXPECT_GE(answered, all.size() - 20 * std::max(4U, limits::kGuestsApart));
}

}  // namespace
}  // namespace subako::core
