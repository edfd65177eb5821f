// For tests: a Node with the real children, one package of the project's own guests, and calls that are made at once. Slow machines and
// sanitizers stretch every bound by SUBAKO_SLOWDOWN.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/limits.h"
#include "child/own_mounts.h"
#include "child/sandbox.h"
#include "core/asio.h"
#include "core/node.h"
#include "core/scratch.h"
#include "protocol/request.h"

namespace subako::core {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::duration<double, std::milli>;

inline double slowdown() {
  const char* text = std::getenv("SUBAKO_SLOWDOWN");
  return text != nullptr ? std::max(1.0, std::atof(text)) : 1.0;
}

// One call: how far it is and how it ended.
struct Held final : CallWatch {
  void stderr_arrived(uint64_t left_out, std::string_view text) override {
    heard += text.size();
    missed += left_out;
    last.append(text);
    last.erase(0, last.size() - std::min<size_t>(last.size(), limits::kStderrKeptBytes));
    if (!reads) return;
    holding = holding || text.find("holding") != std::string_view::npos;
    taken(static_cast<uint32_t>(text.size()));
  }
  bool reads = true;
  bool holding = false;
  uint64_t heard = 0;   // bytes of stderr
  uint64_t missed = 0;  // of gaps in it
  std::string last;     // of what was heard
  std::optional<CallRecord> record;
  Trees own;  // where its session is its own
  std::chrono::steady_clock::time_point ended;
};

inline std::set<std::string> worker_processes() {
  std::set<std::string> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stat(entry.path() / "stat");
    std::string line;
    std::getline(stat, line);
    const size_t after = line.rfind(')');
    if (after == std::string::npos) continue;
    const std::string parent = line.substr(after + 4, line.find(' ', after + 4) - after - 4);
    if (parent == std::to_string(getpid())) pids.insert(pid);
  }
  return pids;
}

// The best of this machine, or the one that SUBAKO_SANDBOX names.
inline std::shared_ptr<child::Sandbox> find_sandbox(const std::string& folder) {
  (void)child::take_own_mounts();  // there is no other thread yet
  const char* named = std::getenv("SUBAKO_SANDBOX");
  auto found = child::Sandbox::find(SUBAKO_CHILD, child::tier_named(named != nullptr ? named : ""), folder);
  EXPECT_TRUE(found.has_value()) << found.error().message;
  return found ? *std::move(found) : nullptr;
}

class Guests : public ::testing::Test {
 protected:
  void SetUp() override { start(1); }

  void start(uint32_t workers, const std::string& guest = "hold") {
    guest_ = guest;
    Result<Scratch> scratch = Scratch::create(Scratch::default_parent());
    ASSERT_TRUE(scratch.has_value()) << scratch.error().message;
    scratch_ = std::make_unique<Scratch>(*std::move(scratch));
    options_.child_executable = SUBAKO_CHILD;
    options_.workers = workers;
    options_.sandbox = find_sandbox(scratch_->path());
    ASSERT_TRUE(options_.sandbox);
    node_ = std::make_unique<Node>(io_, *scratch_, options_);
    asio::co_spawn(io_, prepare(), kUnattended);
    run_until([&] { return package_.has_value(); }, 120s);
    ASSERT_TRUE(package_.has_value());
    char folder[] = "/tmp/subako-many-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    const Fd opened(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    auto handed = options_.sandbox->hand_folder(opened.get(), child::Access::kWrite);
    ASSERT_TRUE(handed.has_value()) << handed.error().message;
    handed_ = *std::move(handed);
  }
  void TearDown() override {
    node_.reset();
    io_.poll();
    std::filesystem::remove_all(folder_);
  }

  asio::awaitable<void> prepare() {
    auto source = open_bundle(GUESTS "/" + guest_);
    EXPECT_TRUE(source.has_value());
    auto built = co_await node_->build(*std::move(source), {});
    EXPECT_TRUE(built.has_value());
    auto check = co_await node_->upload_check(std::get<BuiltPackagePtr>(*built), nullptr);
    EXPECT_TRUE(check.has_value());
    package_ = std::get<CheckedPackage>(std::move(check->verdict));
  }

  // Runs the loop until `done`, for at most `limit` times the slowdown.
  template <class Done>
  bool run_until(Done done, std::chrono::duration<double> limit) {
    const auto until = std::chrono::steady_clock::now() + limit * slowdown();
    while (!done()) {
      if (std::chrono::steady_clock::now() > until) return false;
      io_.restart();
      io_.run_one_for(20ms);
    }
    return true;
  }

  // Each a session's; all lie in one folder, though.
  std::shared_ptr<SessionVolume> volume(uint64_t number) const {
    return std::make_shared<SessionVolume>(
        number, SessionVolume::Folders{.tmp = Fd(fcntl(handed_.get(), F_DUPFD_CLOEXEC, 0))},
        SessionVolume::Holds::kNothing);
  }

  // Without `trees` it is of a session of its own.
  Held& call(const std::string& tool, std::chrono::milliseconds timeout = 60s, const std::string& arguments = "{}",
             const Trees* trees = nullptr) {
    calls_.push_back(std::make_unique<Held>());
    Held& held = *calls_.back();
    if (trees == nullptr) held.own.volume = volume(kOwnSessions + next_session_++);
    asio::co_spawn(io_, one_call(held, tool, timeout, arguments, trees != nullptr ? trees : &held.own), kUnattended);
    return held;
  }
  asio::awaitable<void> one_call(Held& held, std::string tool, std::chrono::milliseconds timeout, std::string arguments,
                                 const Trees* trees) {
    CallRequest request{.package = &*package_, .tool = tool, .arguments = arguments, .timeout = timeout, .trees = trees};
    auto record = co_await node_->call(std::move(request), &held);
    EXPECT_TRUE(record.has_value()) << record.error().message;
    held.ended = std::chrono::steady_clock::now();
    if (record) held.record = *std::move(record);
  }

  bool all_holding() const {
    return std::ranges::all_of(calls_, [](const auto& c) { return c->holding; });
  }

  // How long a call of `answer` takes now, and that it answered.
  Milliseconds time_an_answer() {
    const auto begin = std::chrono::steady_clock::now();
    Held& held = call("answer");
    EXPECT_TRUE(run_until([&] { return held.record.has_value(); }, 30s));
    EXPECT_TRUE(held.record && std::holds_alternative<protocol::Answered>(held.record->outcome));
    return held.ended - begin;
  }

  asio::io_context io_;
  std::unique_ptr<Scratch> scratch_;
  NodeOptions options_;
  Fd handed_;  // folder_, as workers get it
  std::unique_ptr<Node> node_;
  std::string guest_;
  std::optional<CheckedPackage> package_;
  std::string folder_;
  static constexpr uint64_t kOwnSessions = 1000;
  uint64_t next_session_ = 0;
  std::vector<std::unique_ptr<Held>> calls_;
};

}  // namespace subako::core
