#include "worker/run.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "engine/compile.h"
#include "support/wat.h"

namespace subako::worker {
namespace {

using namespace std::chrono_literals;
using testing::wat;
using GuestRun = Run;  // a test fixture has a Run of its own

Nanoseconds ns(std::chrono::nanoseconds duration) { return duration.count(); }

// Stands still, but for what the test moves it. A guest that asks for the wall clock ($tick) moves it by the next jump.
class StillClock final : public Clock {
 public:
  [[nodiscard]] Nanoseconds monotonic() const override { return now; }
  [[nodiscard]] Nanoseconds realtime() const override {
    if (!jumps.empty()) {
      now += jumps.front();
      jumps.pop_front();
    }
    return now;
  }
  mutable Nanoseconds now = ns(1000s);
  mutable std::deque<Nanoseconds> jumps;
};

constexpr std::string_view kResult = ",\"result\":{\"content\":[]}}\n";
constexpr std::string_view kDiscovery =
    ",\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}}\n";
constexpr std::string_view kTools = ",\"result\":{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]}}\n";

// What a guest does is said in a few calls: $read a request, $answer it with the text of a number, $say that text as it
// is, $sleep, $tick.
constexpr std::string_view kGuest = R"(
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func $read
    (i32.store (i32.const 0) (i32.const 8192)) (i32.store (i32.const 4) (i32.const 8192))
    (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 32))))
  (func $iovec (param $at i32) (param $text i32)
    (i32.store (local.get $at) (i32.add (i32.const 1024) (i32.mul (local.get $text) (i32.const 512))))
    (i32.store (i32.add (local.get $at) (i32.const 4))
      (i32.load (i32.add (i32.const 512) (i32.mul (local.get $text) (i32.const 4))))))
  (func $say (param $text i32)
    (call $iovec (i32.const 0) (local.get $text))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 32))))
  (func $answer (param $text i32) (local $end i32)
    ;; The request's own beginning, {"jsonrpc":"2.0","id":"...", is that of its answer.
    (local.set $end (i32.const 8209))
    (loop $next
      (local.set $end (i32.add (local.get $end) (i32.const 1)))
      (br_if $next (i32.ne (i32.load8_u (local.get $end)) (i32.const 44))))
    (i32.store (i32.const 0) (i32.const 8192))
    (i32.store (i32.const 4) (i32.sub (local.get $end) (i32.const 8192)))
    (call $iovec (i32.const 8) (local.get $text))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 2) (i32.const 32))))
  (func $sleep (param $seconds i64)
    (i32.store (i32.const 80) (i32.const 1))
    (i64.store (i32.const 88) (i64.mul (local.get $seconds) (i64.const 1000000000)))
    (drop (call $poll_oneoff (i32.const 64) (i32.const 128) (i32.const 1) (i32.const 32))))
  (func $tick (drop (call $clock (i32.const 0) (i64.const 0) (i32.const 40)))))";

std::string data(size_t at, std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "(data (i32.const " + std::to_string(at) + ") \"";
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out += '\\';
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out + "\")";
}

std::string module_of(const std::string& body, const std::vector<std::string_view>& texts) {
  std::string out = "(module " + std::string(kGuest);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto size = static_cast<uint32_t>(texts[i].size());
    out += data(512 + 4 * i, {reinterpret_cast<const char*>(&size), sizeof size}) + data(1024 + 512 * i, texts[i]);
  }
  return out + "(func (export \"_start\") " + body + "))";
}

class RunTest : public ::testing::Test {
 protected:
  std::unique_ptr<GuestRun> start(const std::string& body, const std::vector<std::string_view>& texts, bool upload = false) {
    Fd file(memfd_create("module", MFD_CLOEXEC));
    const auto compiled = engine::compile(*compiler_, wat(module_of(body, texts)), file.get());
    EXPECT_TRUE(compiled.has_value()) << compiled.error().message;
    auto module = engine::LinkedModule::load(*engine_, std::move(file), GuestRun::import_tables());
    EXPECT_TRUE(module.has_value()) << module.error().message;
    child::StartRun message;
    message.set_run(7);
    message.set_package("sample");
    message.set_timeout_ms(60'000);
    message.set_memory_bytes(granted_);
    if (upload) {
      message.mutable_upload();
    } else {
      message.mutable_call()->set_tool("t");
      message.mutable_call()->set_arguments("{}");
    }
    began_ = clock_.now;
    return std::make_unique<GuestRun>(message, std::vector<Fd>(), *module, around_);
  }

  // Its turns until it waits or has ended.
  static GuestRun::Turn turns(GuestRun& run) {
    GuestRun::Turn turn = run.take_turn();
    while (turn == GuestRun::Turn::kAgain) turn = run.take_turn();
    return turn;
  }

  // A run that never waits.
  child::Ended run(const std::string& body, const std::vector<std::string_view>& texts, bool upload = false) {
    const auto run = start(body, texts, upload);
    EXPECT_EQ(turns(*run), GuestRun::Turn::kEnded);
    return run->take_ended();
  }

  // Takes a waiting run to the instant before it is due, where it still waits, and then to the end of its time.
  child::Ended ended_when_due(GuestRun& run) {
    clock_.now = run.due() - 1;
    EXPECT_EQ(turns(run), GuestRun::Turn::kWaits);
    clock_.now = run.due();
    EXPECT_EQ(turns(run), GuestRun::Turn::kEnded);
    return run.take_ended();
  }

  Result<engine::Engine> compiler_ = engine::Engine::for_compiling();
  Result<engine::Engine> engine_ = engine::Engine::for_running(2);
  StillClock clock_;
  CpuClock cpu_{clock_};
  Ids ids_;
  std::unique_ptr<BlockingThreads> blocking_ = BlockingThreads::create(1).value();
  // What a StartRun grants is all there is, until a test allows more.
  uint64_t granted_ = limits::kFullGuestBytes;
  std::vector<uint64_t> wanted_;
  MemoryMeter memory_{[this](uint64_t least, uint64_t) { wanted_.push_back(least); }, [](uint64_t) {}};
  const Surroundings around_{*engine_, clock_, cpu_, ids_, *blocking_, limits::kDescriptors, memory_};
  Nanoseconds began_ = 0;
};

TEST_F(RunTest, an_answer_in_the_very_slice_that_passes_the_deadline_counts) {  // spec: L1
  clock_.jumps = {ns(61s)};
  const auto ended = run("(call $read) (call $tick) (call $answer (i32.const 0)) (call $read)", {kResult});
  ASSERT_TRUE(ended.has_answered()) << ended.crashed().message();
  EXPECT_EQ(ended.answered().result(), R"({"content":[]})");
}

TEST_F(RunTest, an_answer_in_the_slice_after_it_does_not) {  // spec: L1
  clock_.jumps = {ns(61s)};
  const auto run = start("(call $read) (call $tick) (call $sleep (i64.const 1)) (call $answer (i32.const 0))", {kResult});
  ASSERT_EQ(turns(*run), GuestRun::Turn::kWaits);
  EXPECT_LT(run->due(), clock_.now) << "it is over time already";
  ASSERT_EQ(turns(*run), GuestRun::Turn::kEnded);
  EXPECT_EQ(run->take_ended().crashed().cause(), "timeout");
}

TEST_F(RunTest, a_cancel_ends_it_wherever_it_stands) {  // spec: C12
  for (const char* body : {"(call $read) (call $read)", "(call $read) (call $sleep (i64.const 9))",
                           "(call $read) (call $answer (i32.const 0)) (call $sleep (i64.const 9))"}) {
    const auto run = start(body, {kResult});
    ASSERT_EQ(turns(*run), GuestRun::Turn::kWaits) << body;
    run->cancel();
    EXPECT_TRUE(run->take_ended().has_cancelled()) << body;
  }
  const auto untouched = start("unreachable", {});
  untouched->cancel();
  EXPECT_TRUE(untouched->take_ended().has_cancelled());
}

TEST_F(RunTest, a_violation_is_told_though_the_time_is_over_too) {  // spec: C9
  clock_.jumps = {ns(61s)};
  const auto ended = run("(call $read) (call $tick) (call $say (i32.const 0)) (call $sleep (i64.const 9))", {"hello\n"});
  EXPECT_EQ(ended.crashed().cause(), "not_a_message") << ended.crashed().message();
}

TEST_F(RunTest, a_call_has_a_second_after_its_answer_to_exit) {  // spec: L11, C8
  clock_.jumps = {ns(20s)};
  const auto run = start("(call $read) (call $tick) (call $answer (i32.const 0)) (call $sleep (i64.const 9))", {kResult});
  ASSERT_EQ(turns(*run), GuestRun::Turn::kWaits);
  EXPECT_EQ(run->due(), began_ + ns(21s));
  const auto ended = ended_when_due(*run);
  EXPECT_EQ(ended.crashed().cause(), "no_exit") << ended.crashed().message();
  EXPECT_EQ(ended.measured().exit_ms(), 1000);
}

TEST_F(RunTest, an_upload_check_has_a_second_after_its_last_answer_only) {  // spec: U1, L11
  const auto run = start(
      "(call $read) (call $answer (i32.const 0)) (call $sleep (i64.const 3)) (call $read) (call $answer (i32.const 1))"
      "(call $sleep (i64.const 9))",
      {kDiscovery, kTools}, true);
  ASSERT_EQ(turns(*run), GuestRun::Turn::kWaits);
  EXPECT_EQ(run->due(), began_ + ns(3s)) << "the first answer gives no grace";
  clock_.now = run->due();
  ASSERT_EQ(turns(*run), GuestRun::Turn::kWaits);
  EXPECT_EQ(run->due(), began_ + ns(4s));
  EXPECT_EQ(ended_when_due(*run).crashed().cause(), "no_exit");
}

TEST_F(RunTest, an_upload_check_has_ten_seconds_whatever_it_is_asked_for) {  // spec: L10
  const auto run = start("(call $read) (call $answer (i32.const 0)) (call $read) (call $read)", {kDiscovery}, true);
  ASSERT_EQ(turns(*run), GuestRun::Turn::kWaits);
  EXPECT_EQ(run->due(), began_ + ns(10s));
  EXPECT_EQ(ended_when_due(*run).crashed().cause(), "timeout");
}

TEST_F(RunTest, one_that_waits_is_due_at_its_wake_or_its_deadline) {  // spec: L1
  struct Row {
    const char* body;
    std::chrono::seconds due;
  };
  for (const Row& row : {Row{"(call $sleep (i64.const 10))", 10s}, Row{"(call $sleep (i64.const 59))", 59s},
                         Row{"(call $sleep (i64.const 100))", 60s}, Row{"(call $read) (call $read)", 60s}}) {
    const auto run = start(row.body, {});
    ASSERT_EQ(turns(*run), GuestRun::Turn::kWaits) << row.body;
    EXPECT_EQ(run->due(), began_ + ns(row.due)) << row.body;
  }
}

TEST_F(RunTest, its_phases_add_up) {  // spec: P8
  clock_.jumps = {ns(5ms), ns(7ms), ns(3ms)};
  const auto run = start("(call $tick) (call $read) (call $tick) (call $answer (i32.const 0)) (call $tick)", {kResult});
  clock_.now += ns(2ms);
  ASSERT_EQ(turns(*run), GuestRun::Turn::kEnded);
  const child::Measured measured = run->take_ended().measured();
  EXPECT_EQ(measured.instantiate_ms(), 2);
  EXPECT_EQ(measured.start_ms(), 5);
  EXPECT_EQ(measured.run_ms(), 7);
  EXPECT_EQ(measured.exit_ms(), 3);
  EXPECT_EQ(measured.peak_memory_bytes(), 65536U);
}

TEST_F(RunTest, a_phase_that_was_not_reached_lasts_until_the_end_of_the_one_before) {  // spec: P8
  clock_.jumps = {ns(5ms)};
  const auto early = run("(call $tick) unreachable", {});
  EXPECT_EQ(early.crashed().cause(), "trap");
  EXPECT_EQ(early.measured().start_ms(), 5);
  EXPECT_EQ(early.measured().run_ms() + early.measured().exit_ms(), 0);
  clock_.jumps = {ns(5ms), ns(7ms)};
  const auto late = run("(call $tick) (call $read) (call $tick) unreachable", {});
  EXPECT_EQ(late.measured().start_ms(), 5);
  EXPECT_EQ(late.measured().run_ms(), 7);
  EXPECT_EQ(late.measured().exit_ms(), 0);
}

TEST_F(RunTest, an_answer_may_lack_its_newline) {  // spec: C6
  const std::string_view cut = kResult.substr(0, kResult.size() - 1);
  const auto ended = run("(call $read) (call $answer (i32.const 0))", {cut});
  EXPECT_TRUE(ended.has_answered()) << ended.crashed().message();
}

TEST_F(RunTest, tells_the_tools_of_an_upload) {  // spec: U3
  const auto ended = run("(call $read) (call $answer (i32.const 0)) (call $read) (call $answer (i32.const 1)) (call $read)",
                         {kDiscovery, kTools}, true);
  ASSERT_TRUE(ended.has_answered()) << ended.crashed().message();
  ASSERT_EQ(ended.answered().tools_size(), 1);
  EXPECT_EQ(ended.answered().tools(0).name(), "t");
  EXPECT_EQ(ended.answered().refusals_size(), 0);
}

TEST_F(RunTest, a_crash_at_upload_comes_with_all_that_was_found_before_it) {  // spec: U4
  constexpr std::string_view kFaulty =
      ",\"result\":{\"tools\":[{\"name\":\"NOT A NAME\",\"inputSchema\":{\"type\":\"object\"}},"
      "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"http://x.y/z\"}}}}]}}\n";
  const auto ended = run(
      "(call $read) (call $answer (i32.const 0)) (call $read) (call $answer (i32.const 1)) (call $exit (i32.const 7))",
      {kDiscovery, kFaulty}, true);
  EXPECT_EQ(ended.crashed().cause(), "exit_code") << ended.crashed().message();
  ASSERT_EQ(ended.crashed().refusals_size(), 1);
  EXPECT_EQ(ended.crashed().refusals(0).rule(), "U3");
  EXPECT_EQ(ended.crashed().warnings_size(), 1);
}

// A page more than it has been granted: core is asked, and the guest stands still meanwhile.
constexpr const char* kGrows =
    "(call $read) (if (i32.eq (memory.grow (i32.const 160)) (i32.const -1)) (then unreachable)) "
    "(call $answer (i32.const 0)) (call $read)";

TEST_F(RunTest, a_growth_beyond_its_grant_waits_for_core) {  // spec: L2
  granted_ = 8 * limits::kMiB;
  const auto run = start(kGrows, {kResult});
  ASSERT_EQ(turns(*run), GuestRun::Turn::kWaits);
  ASSERT_EQ(wanted_.size(), 1U);
  EXPECT_GT(wanted_[0], 2 * limits::kMiB);
  EXPECT_LT(wanted_[0], 3 * limits::kMiB);
  EXPECT_EQ(turns(*run), GuestRun::Turn::kWaits) << "nobody has answered yet";
  EXPECT_EQ(wanted_.size(), 1U);
  EXPECT_EQ(memory_.allow(4 * limits::kMiB), 7U);
  ASSERT_EQ(turns(*run), GuestRun::Turn::kEnded);
  const child::Ended ended = run->take_ended();
  EXPECT_TRUE(ended.has_answered()) << ended.crashed().message();
  EXPECT_GT(ended.measured().peak_held_bytes(), 10 * limits::kMiB);
}

TEST_F(RunTest, a_growth_that_the_node_refuses_is_not_the_guests_fault) {  // spec: C9
  granted_ = 8 * limits::kMiB;
  const auto run = start(kGrows, {kResult});
  ASSERT_EQ(turns(*run), GuestRun::Turn::kWaits);
  EXPECT_EQ(memory_.allow(0), 7U);
  ASSERT_EQ(turns(*run), GuestRun::Turn::kEnded);
  const child::Ended ended = run->take_ended();
  EXPECT_EQ(ended.crashed().cause(), "host");
  EXPECT_TRUE(ended.crashed().message().starts_with("this node is out of memory for guests: try again in a moment"))
      << ended.crashed().message();
}

TEST_F(RunTest, an_instance_that_does_not_fit_is_not_the_guests_fault) {  // spec: C9
  granted_ = 0;
  const auto run = start("(call $read)", {});
  ASSERT_EQ(turns(*run), GuestRun::Turn::kWaits);
  while (!wanted_.empty()) {
    wanted_.clear();
    (void)memory_.allow(0);
    if (turns(*run) == GuestRun::Turn::kEnded) break;
  }
  const child::Ended ended = run->take_ended();
  EXPECT_EQ(ended.crashed().cause(), "host");
  EXPECT_TRUE(ended.crashed().message().starts_with("this node is out of memory")) << ended.crashed().message();
}

TEST_F(RunTest, who_waits_for_memory_ends_with_its_time) {  // spec: L1
  granted_ = 8 * limits::kMiB;
  const auto run = start(kGrows, {kResult});
  ASSERT_EQ(turns(*run), GuestRun::Turn::kWaits);
  clock_.now = run->due();
  EXPECT_EQ(turns(*run), GuestRun::Turn::kEnded);
  EXPECT_EQ(memory_.allow(4 * limits::kMiB), 7U) << "its account is there as long as it is";
}

}  // namespace
}  // namespace subako::worker
