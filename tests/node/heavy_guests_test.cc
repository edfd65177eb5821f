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
  // What is heavy of these is what the host does when they have ended.
  static bool leaves() { return std::string(GetParam()).starts_with("leave_"); }
  // It may have been done before it was cancelled, but it has done what it should.
  static void expect_sound(const Held& heavy) {
    const auto* crash = std::get_if<protocol::Crash>(&heavy.record->outcome);
    EXPECT_EQ(crash, nullptr) << crash->message;
    const auto* answered = std::get_if<protocol::Answered>(&heavy.record->outcome);
    if (answered == nullptr) return;
    std::printf("%s\n", answered->result.c_str());
    EXPECT_EQ(answered->result.find("isError"), std::string::npos) << answered->result;
  }
  // The slowest of the answers of another guest meanwhile.
  template <class GoesOn>
  double slowest_answer_while(GoesOn goes_on, const char* beside) {
    std::vector<double> times;
    do {
      times.push_back(time_an_answer().count());
    } while (goes_on());
    std::ranges::sort(times);
    std::printf("beside %s: %zu answers, median %.1f ms, slowest %.1f ms\n", beside, times.size(), times[times.size() / 2],
                times.back());
    return times.back();
  }
  // The machine may be busy with others for a moment: the best of three counts.
  template <class Measure>
  static void expect_below(double bound, Measure measure) {
    double best = measure();
    for (int again = 0; again < 2 && best >= bound * slowdown(); ++again) best = std::min(best, measure());
    EXPECT_LT(best, bound * slowdown());
  }
  Held& start_heavy() {
    Held& heavy = call(GetParam(), 300s);
    EXPECT_TRUE(run_until([&] { return heavy.holding || heavy.record; }, 100s));
    EXPECT_TRUE(heavy.holding);
    return heavy;
  }
};

TEST_P(HeavyGuests, is_cancelled_within_100_ms) {  // spec: C12
  bool cancelled_in_it = false;
  for (const auto after : {0ms, 10ms, 40ms}) {
    expect_below(kCancelMs, [&] {
      Held& heavy = start_heavy();
      run_until([] { return false; }, after);
      const auto begin = std::chrono::steady_clock::now();
      heavy.cancel();
      EXPECT_TRUE(run_until([&] { return heavy.record.has_value(); }, 30s));
      expect_sound(heavy);
      cancelled_in_it = cancelled_in_it || std::holds_alternative<protocol::WasCancelled>(heavy.record->outcome);
      const double took = Milliseconds(heavy.ended - begin).count();
      std::printf("cancelled %d ms into %s: %.1f ms\n", static_cast<int>(after.count()), GetParam(), took);
      return took;
    });
    // And the worker is there for the next one.
    expect_below(kOthersMs, [&] { return time_an_answer().count(); });
  }
  if (!leaves()) {
    EXPECT_TRUE(cancelled_in_it) << "it was done each time before it was cancelled";
  }
}

TEST_P(HeavyGuests, others_are_answered_within_50_ms) {  // spec: C12
  expect_below(kOthersMs, [&] {
    const Held& heavy = start_heavy();
    const auto until = std::chrono::steady_clock::now() + (leaves() ? 500ms : 2000ms);
    const auto goes_on = [&] { return (!heavy.record || leaves()) && std::chrono::steady_clock::now() < until; };
    const double slowest = slowest_answer_while(goes_on, GetParam());
    for (const auto& held : calls_) held->cancel();
    EXPECT_TRUE(run_until([&] { return heavy.record.has_value(); }, 30s));
    expect_sound(heavy);
    return slowest;
  });
}

class TwoHeavyGuests : public HeavyGuests {};

TEST_P(TwoHeavyGuests, others_are_answered_while_both_use_one_file) {  // spec: C12, F6
  expect_below(kOthersMs, [&] {
    const Held& heavy = start_heavy();
    const Held& pokes = call("poke", 60s);
    EXPECT_TRUE(run_until([&] { return pokes.holding; }, 30s));
    const double slowest = slowest_answer_while([&] { return !pokes.record; }, GetParam());
    expect_sound(pokes);
    EXPECT_TRUE(run_until([&] { return heavy.record.has_value(); }, 30s));
    expect_sound(heavy);
    return slowest;
  });
}

INSTANTIATE_TEST_SUITE_P(Of, TwoHeavyGuests, ::testing::Values("truncate_file", "open_to_empty", "unlink_file"),
                         [](const auto& row) { return std::string(row.param); });

INSTANTIATE_TEST_SUITE_P(Of, HeavyGuests,
                         ::testing::Values("loop", "sync_file", "unlink_file", "close_unlinked", "leave_unlinked", "leave_many", "rename_over",
                                           "truncate_file", "open_to_empty", "fill", "random_bytes", "list"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace subako::core
