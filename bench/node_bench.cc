// What a call costs end to end: through core's Node, its frames and a real worker process. One figure a run, as JSON on stdout.
//
//   node_bench CHILD BUNDLE TOOL ARGUMENTS SECONDS AT_ONCE [MEMORY_MIB]   {"calls_per_second": ..., "us_p50": ..., "us_p99": ...}
//
// MEMORY_MIB is the node's budget: a tight one keeps less resident in freed slots. AT_ONCE calls are under way at any time, each begun when another has ended; the times are of single calls, as their caller sees
// them.
#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "child/own_mounts.h"
#include "child/sandbox.h"
#include "core/asio.h"
#include "core/node.h"
#include "core/scratch.h"

namespace {

using namespace subako;
using core::asio::awaitable;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "node_bench: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result) give_up(result.error().message);
  return *std::move(result);
}

class Bench {
 public:
  Bench(core::asio::io_context& io, core::Node& node, const core::Trees& trees, std::string tool, std::string arguments)
      : io_(io), node_(node), trees_(trees), tool_(std::move(tool)), arguments_(std::move(arguments)) {}

  void run(const char* bundle, double seconds, int at_once) {
    core::asio::co_spawn(io_, check(bundle), core::kUnattended);
    io_.run();
    io_.restart();
    until_ = core::now() + std::chrono::milliseconds(200);  // to warm up
    run_all(at_once);
    times_us_.clear();
    const core::Time begin = core::now();
    until_ = begin + std::chrono::duration_cast<core::Time::duration>(std::chrono::duration<double>(seconds));
    run_all(at_once);
    const double elapsed = core::ms_since(begin) / 1000;
    std::ranges::sort(times_us_);
    const auto at = [this](double share) {
      return times_us_.at(static_cast<size_t>(share * static_cast<double>(times_us_.size() - 1)));
    };
    std::printf("{\"calls_per_second\": %.1f, \"us_p50\": %.1f, \"us_p99\": %.1f}\n",
                static_cast<double>(times_us_.size()) / elapsed, at(0.5), at(0.99));
  }

 private:
  void run_all(int at_once) {
    for (int i = 0; i < at_once; ++i) core::asio::co_spawn(io_, call_again(), core::kUnattended);
    // The worker's reader goes on for ever: stop when the calls have ended.
    under_way_ = at_once;
    while (under_way_ > 0) io_.run_one();
  }

  awaitable<void> check(const char* bundle) {
    auto built = must(co_await node_.build(must(core::open_bundle(bundle)), {}));
    auto* package = std::get_if<core::BuiltPackagePtr>(&built);
    if (package == nullptr) give_up("the bundle was refused");
    auto checked = must(co_await node_.upload_check(std::move(*package), nullptr));
    if (!std::holds_alternative<core::CheckedPackage>(checked.verdict)) give_up("the bundle was refused by its check");
    package_ = std::get<core::CheckedPackage>(std::move(checked.verdict));
    io_.stop();
  }

  awaitable<void> call_again() {
    while (core::now() < until_) {
      const core::Time begin = core::now();
      core::CallRequest request;
      request.package = &*package_;
      request.tool = tool_;
      request.arguments = arguments_;
      request.trees = &trees_;
      const auto record = must(co_await node_.call(std::move(request), nullptr));
      if (!std::holds_alternative<protocol::Answered>(record.outcome)) give_up("the guest did not answer");
      times_us_.push_back(core::ms_since(begin) * 1000);
    }
    --under_way_;
  }

  core::asio::io_context& io_;
  core::Node& node_;
  const core::Trees& trees_;
  std::string tool_;
  std::string arguments_;
  std::optional<core::CheckedPackage> package_;
  core::Time until_;
  int under_way_ = 0;
  std::vector<double> times_us_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7 && argc != 8) {
    std::fputs("usage: node_bench CHILD BUNDLE TOOL ARGUMENTS SECONDS AT_ONCE [MEMORY_MIB]\n", stderr);
    return 3;
  }
  (void)child::take_own_mounts();
  const int at_once = std::max(1, std::atoi(argv[6]));
  core::asio::io_context io(1);
  core::Scratch scratch = must(core::Scratch::create(core::Scratch::default_parent()));
  const core::ScratchFolder volume = must(scratch.make_folder("volume"));
  core::NodeOptions options;
  options.child_executable = argv[1];
  const char* named = std::getenv("SUBAKO_SANDBOX");
  options.sandbox = must(child::Sandbox::find(argv[1], child::tier_named(named != nullptr ? named : ""), scratch.path()));
  core::Trees trees;
  trees.volume = std::make_shared<core::SessionVolume>(
      1, core::SessionVolume::Folders{.tmp = must(options.sandbox->hand_folder(volume.fd(), child::Access::kWrite))},
      core::SessionVolume::Holds::kNothing);
  options.guests_per_worker = static_cast<uint32_t>(at_once);
  if (argc > 7) options.memory_bytes = std::strtoull(argv[7], nullptr, 10) * limits::kMiB;
  core::Node node(io, scratch, options);
  Bench(io, node, trees, argv[3], argv[4]).run(argv[2], std::atof(argv[5]), at_once);
}
