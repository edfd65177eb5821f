// A session's Volume as it is counted in the real worker, through Node (spec: F5): at its limit, and while guests of guests/churn change it in
// every way and their worker is killed.
#include <signal.h>

#include <array>
#include <cstdio>
#include <random>

#include "node/guests_fixture.h"
#include "volume/count.h"

namespace subako::core {
namespace {

namespace fs = std::filesystem;

class VolumeGuests : public Guests {
 protected:
  void SetUp() override { begin(); }
  // A Volume of tmp/ and data/ with a folder beside it that is nobody's business.
  void begin() {
    start(1, "churn");
    open_volume(SessionVolume::Holds::kNothing);
    fs::create_directory(folder_ + "/outside");
    std::ofstream(folder_ + "/outside/file") << "untouched";
  }
  void open_volume(SessionVolume::Holds holds) {
    auto folders = SessionVolume::open(Fd(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), true, folder_, options_.sandbox.get());
    ASSERT_TRUE(folders) << folders.error().message;
    trees_.volume = std::make_shared<SessionVolume>(++number_, *std::move(folders), holds);
  }
  Held& call(const std::string& tool, std::chrono::milliseconds timeout = 60s, const std::string& arguments = "{}") {
    return Guests::call(tool, timeout, arguments, &trees_);
  }
  volume::Counts recount() const {
    const std::array trees{trees_.volume->tmp().get(), trees_.volume->data().get()};
    const auto counts = volume::count_trees(trees, [] { return false; });
    EXPECT_TRUE(counts) << counts.error().message;
    return counts.value_or(volume::Counts{});
  }
  // The answer's text and whether it was an error.
  std::string answer(const std::string& tool, const std::string& arguments = "{}") {
    Held& held = call(tool, 300s, arguments);
    EXPECT_TRUE(run_until([&] { return held.record.has_value(); }, 300s));
    last_ = &held;
    const auto* answered = std::get_if<protocol::Answered>(&held.record->outcome);
    if (answered == nullptr) return "no answer";
    const std::string& result = answered->result;
    const size_t begin = result.rfind("\"text\":\"") + 8;
    return result.substr(begin, result.find('"', begin) - begin) + (result.contains("isError") ? " (error)" : "");
  }
  void expect_counted() {
    ASSERT_TRUE(last_ != nullptr && last_->record->measures.volume);
    EXPECT_EQ(*last_->record->measures.volume, recount());
    EXPECT_EQ(trees_.volume->counts(), recount());
  }

  Trees trees_;
  Held* last_ = nullptr;
  uint64_t number_ = 0;
};

TEST_F(VolumeGuests, ten_gibibytes_are_full) {  // spec: F4, F5
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(answer("grow", R"({"mib":1024,"name":"f)" + std::to_string(i) + "\"}"), "grown");
    EXPECT_EQ(last_->record->measures.volume_full, VolumeFull::kNo);
  }
  EXPECT_EQ(answer("grow", R"({"mib":1,"name":"more"})"), "No space left on device (error)");
  EXPECT_EQ(last_->record->measures.volume_full, VolumeFull::kBytes);
  expect_counted();
  EXPECT_EQ(answer("grow", R"({"mib":1025,"name":"f0"})"), "No space left on device (error)");
  EXPECT_EQ(answer("full", R"({"name":"f3"})"), "as it should be");
  expect_counted();
  EXPECT_EQ(answer("grow", R"({"mib":1023,"name":"g"})"), "grown");
  expect_counted();
}

class SmallVolume : public VolumeGuests {
  void SetUp() override {
    options_.volume_most = {.bytes = 1 << 20, .entries = 50};
    begin();
  }
};

TEST_F(SmallVolume, an_operator_may_lower_the_limits) {  // spec: F5, L
  EXPECT_EQ(answer("many"), "50");
  EXPECT_EQ(last_->record->measures.volume_full, VolumeFull::kEntries);
  expect_counted();
  for (const auto& entry : fs::directory_iterator(folder_ + "/tmp")) fs::remove(entry);
  open_volume(SessionVolume::Holds::kUnknown);
  EXPECT_EQ(answer("grow", R"({"mib":2,"name":"a"})"), "No space left on device (error)");
  EXPECT_EQ(answer("grow", R"({"mib":1,"name":"a"})"), "grown");
  EXPECT_EQ(answer("full", R"({"name":"a"})"), "as it should be");
  expect_counted();
}

TEST_F(SmallVolume, a_folder_that_was_there_before_is_counted_first_and_may_hold_more_than_it_may) {  // spec: F5
  std::ofstream(folder_ + "/tmp/large").close();
  fs::resize_file(folder_ + "/tmp/large", 5 << 20);
  std::ofstream(folder_ + "/data/small") << "abc";
  open_volume(SessionVolume::Holds::kUnknown);
  EXPECT_EQ(answer("grow", R"({"mib":1,"name":"a"})"), "No space left on device (error)");
  EXPECT_EQ(last_->record->measures.volume, (volume::Counts{(5 << 20) + 3, 3}));
  EXPECT_EQ(answer("grow", R"({"mib":5,"name":"large"})"), "grown") << "it is no longer than before";
  EXPECT_EQ(answer("grow", R"({"mib":0,"name":"large"})"), "grown") << "shorter";
  EXPECT_EQ(answer("grow", R"({"mib":1,"name":"a"})"), "No space left on device (error)") << "3 bytes are there";
  expect_counted();
}

TEST_F(VolumeGuests, a_long_call_tells_how_full_the_volume_is_while_it_goes_on) {  // spec: F5
  Held& held = call("churn");
  ASSERT_TRUE(run_until([&] { return held.holding; }, 30s));
  ASSERT_TRUE(run_until([&] { return trees_.volume->counts() != volume::Counts{}; }, 30s));
  const auto first = trees_.volume->counts();
  ASSERT_TRUE(run_until([&] { return trees_.volume->counts() != first; }, 30s));
  held.cancel();
  ASSERT_TRUE(run_until([&] { return held.record.has_value(); }, 30s));
  EXPECT_EQ(held.record->measures.volume, recount());
}

TEST_F(VolumeGuests, the_ledger_equals_a_recount_whatever_eight_guests_do_and_whenever_their_worker_dies) {  // spec: F5
  const int rounds = static_cast<int>(222 / slowdown());  // in nine of ten the worker is killed
  std::mt19937 random(20261201);
  int killed = 0;
  int counted = 0;
  for (int round = 0; round < rounds; ++round) {
    calls_.clear();
    for (int i = 0; i < 8; ++i) {
      // Half of them end by themselves; the others are cancelled, or go with their worker.
      const std::string turns = i % 2 == 0 ? R"(,"turns":100})" : "}";
      call("churn", 60s, R"({"seed":)" + std::to_string(random()) + turns);
    }
    ASSERT_TRUE(run_until([&] { return all_holding(); }, 60s)) << round;
    run_until([] { return false; }, std::chrono::milliseconds(random() % 40));
    const bool kills = round % 10 != 9;
    if (kills) {
      // From the second death on the guests have a worker of their own, and another is there for others.
      const std::set<std::string> workers = worker_processes();
      ASSERT_FALSE(workers.empty());
      for (const std::string& worker : workers) ASSERT_EQ(kill(std::stoi(worker), SIGKILL), 0);
      ++killed;
    }
    for (const auto& held : calls_) held->cancel();
    ASSERT_TRUE(run_until([&] { return std::ranges::all_of(calls_, [](const auto& c) { return c->record.has_value(); }); }, 30s));
    if (kills) {
      EXPECT_FALSE(trees_.volume->counts()) << "nobody knows";
    }
    // The next call has it counted, and then changes it.
    ASSERT_EQ(answer("churn", R"({"seed":)" + std::to_string(random()) + R"(,"turns":30})"), "done");
    // What a cancelled guest's thread was cutting is counted when that step is done.
    ASSERT_TRUE(run_until([&] { return trees_.volume->counts() == recount(); }, 5s)) << round << ": " << trees_.volume->counts()->bytes;
    ++counted;
  }
  std::ifstream file(folder_ + "/outside/file");
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "untouched");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3) << "nothing was made beside the trees";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ + "/outside"), {}), 1);
  std::printf("%d rounds, in %d of them the worker was killed; %llu bytes in %llu entries at the end\n", counted, killed,
              static_cast<unsigned long long>(recount().bytes), static_cast<unsigned long long>(recount().entries));
}

}  // namespace
}  // namespace subako::core
