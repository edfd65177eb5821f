// Many fresh calls of mixed guests, with crashes of every kind and cancels among them, in several sessions and workers: does anything grow?
//
//   node_soak CHILD GUESTS CALLS [SHARED_GUESTS]
//
// GUESTS is the build's guests/; SHARED_GUESTS adds real toolchains' packages, those that are there. At intervals, when no call is under
// way, it tells what core and the workers hold: resident memory and descriptors. It fails where the last third is not flat against
// the middle one, and where a call ends as it shouldn't.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/proc_text.h"
#include "child/own_mounts.h"
#include "child/sandbox.h"
#include "core/asio.h"
#include "core/node.h"
#include "core/scratch.h"

namespace {

using namespace subako;
using namespace std::chrono_literals;
using core::asio::awaitable;
namespace fs = std::filesystem;

constexpr int kAtOnce = 32;
constexpr uint64_t kSessions = 8;
constexpr uint32_t kWorkers = 2;
constexpr int kSamples = 30;
// What the last third may have above the middle one: noise of the heap, and in a short run the slots that had no large guest yet.
constexpr double kGrowth = 0.02;
constexpr uint64_t kLong = 100'000;  // calls
constexpr double kGrowthKiB = 1024;
constexpr double kGrowthOfShortKiB = 8 * 1024;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "node_soak: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result) give_up(result.error().message);
  return *std::move(result);
}

enum class End : uint8_t { kAnswers, kCrashes, kIsCancelled };

struct Kind {
  std::string guest;  // a folder
  std::string tool;
  std::string arguments;
  End end = End::kAnswers;
  int share = 1;
  std::chrono::milliseconds timeout = 60s;
};

std::vector<Kind> kinds(const fs::path& guests, const fs::path& shared) {
  std::vector<Kind> out{
      {guests / "greet", "greet", R"({"name":"Ada"})", End::kAnswers, 500},
      {guests / "hold", "answer", "{}", End::kAnswers, 200},
      {guests / "hold", "hold", R"({"ms":2})", End::kAnswers, 50},
      {guests / "hold", "hold_memory", R"({"mib":3})", End::kAnswers, 30},
      {guests / "hold", "hold_memory", R"({"mib":24})", End::kAnswers, 5},
      {guests / "hold", "hold", "{}", End::kIsCancelled, 30},
      {guests / "hold", "spin", "{}", End::kIsCancelled, 2},
      {guests / "hold", "hold_stdin", "{}", End::kIsCancelled, 20},
      {guests / "hold", "spin", "{}", End::kCrashes, 1, 5ms},
      {guests / "files", "write", R"({"path":"/volume/tmp/a","text":"some text"})", End::kAnswers, 60},
      {guests / "files", "list", R"({"path":"/volume/tmp"})", End::kAnswers, 40},
  };
  for (const char* name : {"c6_log_on_stdout", "c6_not_utf8", "c7_stderr_then_trap", "c9_exit_code", "c9_guest_request", "c9_jsonrpc_error",
                           "c9_no_answer", "c9_out_of_bounds", "c9_stack_overflow", "c9_trap", "c9_two_answers", "l4_stdout_limit"}) {
    out.push_back({guests / "hostile" / name, "misbehave", "{}", End::kCrashes, 8});
  }
  out.push_back({guests / "hostile/l2_out_of_memory_trap", "misbehave", "{}", End::kCrashes, 1});
  if (shared.empty()) return out;
  for (const char* name : {"rust-greet", "go-kit", "c-kit", "cpp-kit"}) {
    const std::string tool = std::string(name) == "rust-greet" ? "greet" : "";
    if (!tool.empty() && fs::exists(shared / name)) out.push_back({shared / name, tool, R"({"name":"Ada"})", End::kAnswers, 40});
  }
  return out;
}

struct Held {
  double kib = 0;
  size_t descriptors = 0;
};

Held held_by(const std::string& pid) {
  std::ifstream status("/proc/" + pid + "/status");
  const std::string text{std::istreambuf_iterator<char>(status), {}};
  const auto files = fs::directory_iterator("/proc/" + pid + "/fd");
  return {static_cast<double>(line_number(text, "VmRSS").value_or(0)),
          static_cast<size_t>(std::distance(fs::begin(files), fs::end(files)))};
}

std::vector<std::string> children() {
  std::vector<std::string> out;
  std::ifstream list("/proc/self/task/" + std::to_string(getpid()) + "/children");
  for (std::string pid; list >> pid;) out.push_back(pid);
  std::ranges::sort(out);
  return out;
}

// One call: cancelled once it stands where it is to be cancelled.
struct Watch final : core::CallWatch {
  explicit Watch(bool cancels_it) : cancels(cancels_it) {}
  void stderr_arrived(uint64_t, std::string_view text) override {
    taken(static_cast<uint32_t>(text.size()));
    if (cancels) cancel();
  }
  bool cancels;
};

class Soak {
 public:
  Soak(core::asio::io_context& io, core::Node& node, core::Scratch& scratch, child::Sandbox& sandbox, std::vector<Kind> kinds)
      : io_(io), node_(node), kinds_(std::move(kinds)) {
    for (uint64_t i = 0; i < kSessions; ++i) {
      folders_.push_back(must(scratch.make_folder("volume")));
      trees_.emplace_back();
      core::SessionVolume::Folders folders;
      folders.tmp = must(sandbox.hand_folder(folders_.back().fd(), child::Access::kWrite));
      trees_.back().volume =
          std::make_shared<core::SessionVolume>(i + 1, std::move(folders), core::SessionVolume::Holds::kNothing);
    }
    for (const Kind& kind : kinds_) shares_.push_back(kind.share);
  }

  int run(uint64_t calls) {
    core::asio::co_spawn(io_, check_all(), core::kUnattended);
    while (!checked_) io_.run_one();
    // Slots keep what their first guest has touched: each that is used at all is used once before anything is noted.
    run_some(calls / 10, 4 * kAtOnce);
    done_ = 0;
    const core::Time begin = core::now();
    for (int sample = 1; sample <= kSamples; ++sample) {
      run_some(calls / kSamples, kAtOnce);
      note(sample, core::ms_since(begin) / 1000);
    }
    std::printf("%lu calls in %.0f s:", done_, core::ms_since(begin) / 1000);
    for (const auto& [how, count] : ends_) std::printf(" %lu %s", count, how.c_str());
    std::printf("\n");
    return flat() && wrong_ == 0 ? 0 : 1;
  }

 private:
  void run_some(uint64_t calls, int at_once) {
    left_ = calls;
    under_way_ = at_once;
    for (int i = 0; i < at_once; ++i) core::asio::co_spawn(io_, call_again(), core::kUnattended);
    while (under_way_ > 0) io_.run_one();
  }

  awaitable<void> check_all() {
    for (const Kind& kind : kinds_) {
      if (packages_.contains(kind.guest)) continue;
      auto built = must(co_await node_.build(must(core::open_bundle(kind.guest)), {}));
      auto* package = std::get_if<core::BuiltPackagePtr>(&built);
      if (package == nullptr) give_up(kind.guest + " was refused");
      auto checked = must(co_await node_.upload_check(std::move(*package), nullptr));
      if (!std::holds_alternative<core::CheckedPackage>(checked.verdict)) give_up(kind.guest + " was refused by its check");
      packages_.emplace(kind.guest, std::get<core::CheckedPackage>(std::move(checked.verdict)));
    }
    checked_ = true;
  }

  awaitable<void> call_again() {
    while (left_ > 0) {
      --left_;
      const Kind& kind = kinds_[std::discrete_distribution<size_t>(shares_.begin(), shares_.end())(random_)];
      const uint64_t session = random_() % kSessions;
      Watch watch(kind.end == End::kIsCancelled);
      core::CallRequest request;
      request.package = &packages_.at(kind.guest);
      request.tool = kind.tool;
      request.arguments = kind.arguments;
      request.timeout = kind.timeout;
      request.trees = &trees_[session];
      const auto record = must(co_await node_.call(std::move(request), &watch));
      judge(kind, record.outcome);
      ++done_;
    }
    --under_way_;
  }

  void judge(const Kind& kind, const protocol::Outcome& outcome) {
    const auto* crash = std::get_if<protocol::Crash>(&outcome);
    const bool answered = std::holds_alternative<protocol::Answered>(outcome);
    ++ends_[answered ? "answered" : crash == nullptr ? "cancelled" : std::string(protocol::cause_name(crash->cause))];
    bool right = answered == (kind.end == End::kAnswers) && (crash != nullptr) == (kind.end == End::kCrashes);
    if (crash != nullptr && crash->cause == protocol::Cause::kHost) right = false;
    if (right) return;
    ++wrong_;
    std::printf("%s %s ended otherwise: %s\n", kind.guest.c_str(), kind.tool.c_str(), crash != nullptr ? crash->message.c_str() : "");
  }

  void note(int sample, double seconds) {
    std::vector<Held> now{held_by("self")};
    for (const std::string& pid : children()) now.push_back(held_by(pid));
    std::printf("%2d: %7lu calls, %5.0f s;", sample, done_, seconds);
    for (const Held& one : now) std::printf("  %6.1f MiB %3zu files", one.kib / 1024, one.descriptors);
    std::printf("\n");
    std::fflush(stdout);
    samples_.push_back(std::move(now));
  }

  // Core, then the workers.
  bool flat() const {
    bool all = true;
    const size_t processes = samples_.back().size();
    for (size_t process = 0; process < processes; ++process) {
      const auto mean = [&](size_t begin, size_t end) {
        Held sum;
        for (size_t i = begin; i < end; ++i) {
          if (samples_[i].size() != processes) give_up("a worker has died");
          sum.kib += samples_[i][process].kib / static_cast<double>(end - begin);
          sum.descriptors = std::max(sum.descriptors, samples_[i][process].descriptors);
        }
        return sum;
      };
      const size_t third = samples_.size() / 3;
      const Held middle = mean(third, 2 * third);
      const Held last = mean(2 * third, samples_.size());
      const bool grows = last.kib > middle.kib * (1 + kGrowth) + (done_ < kLong ? kGrowthOfShortKiB : kGrowthKiB) || last.descriptors > middle.descriptors;
      std::printf("%s: middle third %.1f MiB and %zu files, last third %.1f MiB (%+.2f %%) and %zu: %s\n",
                  process == 0 ? "core" : "worker", middle.kib / 1024, middle.descriptors, last.kib / 1024,
                  (last.kib / middle.kib - 1) * 100, last.descriptors, grows ? "GROWS" : "flat");
      all = all && !grows;
    }
    return all;
  }

  core::asio::io_context& io_;
  core::Node& node_;
  std::vector<Kind> kinds_;
  std::vector<int> shares_;
  std::vector<core::ScratchFolder> folders_;
  std::vector<core::Trees> trees_;
  std::map<std::string, core::CheckedPackage> packages_;
  std::mt19937_64 random_{20'261'201};
  bool checked_ = false;
  uint64_t left_ = 0;
  int under_way_ = 0;
  uint64_t done_ = 0;
  uint64_t wrong_ = 0;
  std::map<std::string, uint64_t> ends_;
  std::vector<std::vector<Held>> samples_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::fputs("usage: node_soak CHILD GUESTS CALLS [SHARED_GUESTS]\n", stderr);
    return 3;
  }
  (void)child::take_own_mounts();
  core::asio::io_context io(1);
  core::Scratch scratch = must(core::Scratch::create(core::Scratch::default_parent()));
  core::NodeOptions options;
  options.child_executable = argv[1];
  options.workers = kWorkers;
  options.sandbox = must(child::Sandbox::find(argv[1], std::nullopt, scratch.path()));
  core::Node node(io, scratch, options);
  Soak soak(io, node, scratch, *options.sandbox, kinds(argv[2], argc > 4 ? argv[4] : ""));
  return soak.run(std::strtoull(argv[3], nullptr, 10));
}
