// One guest does what takes longest, and is cancelled in it, or others of the same worker are answered meanwhile: with the real children
// and the guests of guests/heavy.
#include <cstdio>

#include "node/guests_fixture.h"

namespace subako::core {
namespace {

constexpr double kCancelMs = 100;  // C12
constexpr double kOthersMs = 50;

class HeavyGuests : public Guests, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    start(1, "heavy");
    if (GetParam() == std::string("list")) {
      for (int i = 0; i < 100'000; ++i) std::ofstream(folder_ + "/entry-" + std::to_string(i));
    }
  }
  // It may have been done before it was cancelled, but it has done what it should.
  static void expect_sound(const Held& heavy) {
    const auto* crash = std::get_if<protocol::Crash>(&heavy.record->outcome);
    EXPECT_EQ(crash, nullptr) << crash->message;
    const auto* answered = std::get_if<protocol::Answered>(&heavy.record->outcome);
    if (answered == nullptr) return;
    std::printf("%s\n", answered->result.c_str());
    EXPECT_EQ(answered->result.find("isError"), std::string::npos) << answered->result;
  }
  Held& start_heavy() {
    Held& heavy = call(GetParam(), 300s);
    EXPECT_TRUE(run_until([&] { return heavy.holding || heavy.record; }, 100s));
    EXPECT_TRUE(heavy.holding);
    return heavy;
  }
};

TEST_P(HeavyGuests, is_cancelled_within_100_ms) {  // spec: C12
  for (const auto after : {0ms, 10ms, 40ms}) {
    Held& heavy = start_heavy();
    run_until([] { return false; }, after);
    const auto begin = std::chrono::steady_clock::now();
    heavy.cancel();
    ASSERT_TRUE(run_until([&] { return heavy.record.has_value(); }, 30s));
    expect_sound(heavy);
    const double took = Milliseconds(heavy.ended - begin).count();
    std::printf("cancelled %d ms into %s: %.1f ms\n", static_cast<int>(after.count()), GetParam(), took);
    EXPECT_LT(took, kCancelMs * slowdown());
    // And the worker is there for the next one.
    EXPECT_LT(time_an_answer().count(), kOthersMs * slowdown());
  }
}

TEST_P(HeavyGuests, others_are_answered_within_50_ms) {  // spec: C12
  const Held& heavy = start_heavy();
  double worst = 0;
  int answers = 0;
  const auto until = std::chrono::steady_clock::now() + 2s;
  do {
    worst = std::max(worst, time_an_answer().count());
    ++answers;
  } while (!heavy.record && std::chrono::steady_clock::now() < until);
  std::printf("beside %s: the slowest of %d answers %.1f ms\n", GetParam(), answers, worst);
  EXPECT_LT(worst, kOthersMs * slowdown());
  for (const auto& held : calls_) held->cancel();
  ASSERT_TRUE(run_until([&] { return heavy.record.has_value(); }, 30s));
  expect_sound(heavy);
}

INSTANTIATE_TEST_SUITE_P(Of, HeavyGuests,
                         ::testing::Values("loop", "sync_file", "unlink_file", "close_unlinked", "leave_unlinked", "rename_over",
                                           "truncate_file", "open_to_empty", "fill", "random_bytes", "list"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace subako::core
