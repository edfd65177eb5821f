#include "core/node.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "child/envelope.h"
#include "core/asio.h"
#include "core/loop_fixture.h"
#include "core/render.h"

namespace subako::core {
namespace {

using namespace std::chrono_literals;

class Watch : public CallWatch {
 public:
  void started() override {
    is_started = true;
    if (cancel_when_started) cancel();
  }
  void stderr_arrived(uint64_t left_out, std::string_view text) override {
    heard += "[" + std::to_string(left_out) + "]" + std::string(text);
    if (take_at_once) taken(static_cast<uint32_t>(text.size()));
  }
  bool is_started = false;
  bool cancel_when_started = false;
  bool take_at_once = true;
  std::string heard;
};

class NodeTest : public LoopTest {
 protected:
  NodeTest() : scratch_(*Scratch::create(testing::TempDir())) { child::silence_decoding(); }

  // Where `cache_` names a folder, with a cache there.
  void make_node(uint32_t workers = 1, uint32_t guests = 10, std::chrono::milliseconds builder_wall = 30s) {
    NodeOptions options;
    options.child_executable = NODE_TEST_CHILD;
    options.workers = workers;
    options.guests_per_worker = guests;
    options.builder_wall = builder_wall;
    options.memory_bytes = 4 * limits::kGiB;
    make_node(std::move(options));
  }
  void make_node(NodeOptions options) {
    options.builder_cpu = 1s;
    options.worker_silence = 300ms;
    options.worker_queue_bytes = 64 * limits::kKiB;
    if (!cache_.empty()) options.cache = std::make_shared<const ModuleCache>(*ModuleCache::open(cache_));
    node_ = std::make_unique<Node>(io_, scratch_, options);
    trees_.volume = volume(1);
  }

  std::shared_ptr<SessionVolume> volume(uint64_t number, bool data = false, SessionVolume::Holds holds = SessionVolume::Holds::kNothing) {
    const auto opened = [this](const char* name) { return Fd(open(folder(name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); };
    return std::make_shared<SessionVolume>(
        number, SessionVolume::Folders{.tmp = opened("tmp"), .data = data ? opened("data") : Fd()}, holds);
  }
  std::string folder(const std::string& mark) {
    folders_.push_back(*scratch_.make_folder("tree"));
    std::ofstream(folders_.back().path() + "/mark") << mark;
    return folders_.back().path();
  }

  // The text of the bundle says what the builder is to do.
  static BundleSource bundle(const std::string& mode) {
    BundleSource source;
    source.file = Fd(memfd_create("bundle", MFD_CLOEXEC));
    EXPECT_EQ(write(source.file.get(), mode.data(), mode.size()), static_cast<ssize_t>(mode.size()));
    return source;
  }
  Result<Node::BuildResult> build(const std::string& mode, std::function<void(BuildPhase)> progress = {}) {
    return wait(node_->build(bundle(mode), std::move(progress)));
  }
  template <class Then>
  void begin_build(const std::string& mode, Then then) {
    asio::co_spawn(
        io_, node_->build(bundle(mode), {}),
        [then](const std::exception_ptr&, Result<Node::BuildResult> result) { then(std::move(result)); });
  }
  BuiltPackagePtr built(const std::string& mode = "good") { return std::get<BuiltPackagePtr>(*build(mode)); }

  // A package that lists every way of misbehaving as a tool.
  void check(const std::string& mode = "good") {
    package_.built = built(mode);
    for (const char* name :
         {"answer",      "where",      "who",       "die",         "segv",         "garbage",
          "no_message",  "half_frame", "two_ended", "unknown_run", "no_outcome",   "bad_cause",
          "no_json",     "not_utf8",   "no_result", "much_stderr", "stderr_flood", "stderr",
          "stderr_rest", "hold",       "release",   "silent",      "deaf",         "chatter",
          "wants_much",  "wants_nothing", "returns_memory", "volume", "boast", "count", "leaves", "left_without_counts"}) {
      package_.tools.push_back({});
      package_.tools.back().name = name;
    }
  }

  Task<Result<CallRecord>> task(const std::string& tool, CallWatch* watch = nullptr,
                                std::chrono::milliseconds timeout = 100ms, const Trees* trees = nullptr) {
    CallRequest request;
    request.package = &package_;
    request.tool = tool;
    request.arguments = "{}";
    request.timeout = timeout;
    request.trees = trees != nullptr ? trees : &trees_;
    return node_->call(std::move(request), watch);
  }
  Result<CallRecord> call(const std::string& tool, CallWatch* watch = nullptr) {
    return wait(task(tool, watch));
  }

  static std::string text(const Result<CallRecord>& record) {
    if (!record) return "error: " + record.error().message;
    if (const auto* crash = std::get_if<protocol::Crash>(&record->outcome)) {
      return std::string(protocol::cause_name(crash->cause)) + ": " + crash->message;
    }
    std::string out;
    for (const auto& block : view_of(*record)) out += block.text;
    return out;
  }

  Scratch scratch_;
  std::vector<ScratchFolder> folders_;
  Trees trees_;
  std::string cache_;
  CheckedPackage package_;
  std::unique_ptr<Node> node_;
};

TEST_F(NodeTest, builds_and_seals) {
  make_node();
  std::vector<BuildPhase> phases;
  auto result = build("good", [&](BuildPhase phase) { phases.push_back(phase); });
  ASSERT_TRUE(result) << result.error().message;
  const auto package = std::get<BuiltPackagePtr>(*result);
  EXPECT_EQ(package->name, "sample");
  EXPECT_TRUE(package->assets);
  EXPECT_EQ(phases, std::vector{BuildPhase::kCompiling});
  EXPECT_EQ(write(package->module.get(), "x", 1), -1);
  EXPECT_EQ(ftruncate(package->module.get(), 0), -1);
}

TEST_F(NodeTest, a_builder_over_its_limits_is_a_refusal_that_names_the_limit) {  // spec: M6
  const std::vector<std::pair<std::string, std::string>> rows{
      {"spin", "unpacking the bundle took more than 1 s of CPU time and was stopped"},
      {"spin on", "unpacking the bundle took more than 1 s of CPU time and was stopped"},
      {"segv", "on this bundle, the process that unpacks it was killed by signal 11 (Segmentation fault)"},
      {"memory", "unpacking the bundle needed more than 2 GiB of memory"},
      {"silent", "unpacking the bundle took longer than 1 s and was stopped"}};
  // All at once: some take seconds.
  std::map<std::string, Result<Node::BuildResult>> results;
  std::vector<std::unique_ptr<Node>> nodes;
  for (const std::chrono::milliseconds wall : {30'000ms, 1000ms}) {
    nodes.push_back(std::move(node_));
    make_node(1, 1, wall);
    for (const auto& [mode, found] : rows) {
      if ((mode == "silent") == (wall == 1s))
        begin_build(mode, [&results, mode](auto result) { results.emplace(mode, std::move(result)); });
    }
  }
  run_until([&] { return results.size() >= rows.size(); });
  for (const auto& [mode, found] : rows) {
    const auto& result = results.at(mode);
    ASSERT_TRUE(result) << mode << result.error().message;
    const auto* refused = std::get_if<Refused>(&*result);
    ASSERT_NE(refused, nullptr) << mode;
    EXPECT_EQ(refused->refusals.at(0).rule, "M6") << mode;
    EXPECT_NE(refused->refusals.at(0).message.find(found), std::string::npos)
        << refused->refusals.at(0).message;
    EXPECT_FALSE(refused->refusals.at(0).hint.empty()) << mode;
  }
}

TEST_F(NodeTest, passes_on_a_refusal) {  // spec: M1
  make_node();
  const auto result = build("refuse");
  EXPECT_EQ(std::get<Refused>(*result).refusals.at(0).message, "it is a component");
}

TEST_F(NodeTest, a_misbehaving_builder_is_our_fault) {
  make_node();
  for (const char* mode :
       {"exit", "garbage", "nothing", "fail", "refuse without reason", "bad name", "wrong size",
        "compiled instead", "compile: exit", "compile: garbage", "compile: nothing", "compile: fail",
        "compile: refuse without reason", "compile: wrong size", "compile: empty"}) {
    const auto result = build(mode);
    ASSERT_FALSE(result) << mode;
    EXPECT_EQ(result.error().code, Code::kInternal) << mode;
  }
}

// A size that a process names costs us nothing.
TEST_F(NodeTest, a_builder_cannot_make_core_hold_more_than_the_limit) {  // spec: M6 L12
  make_node();
  for (const auto& [mode, sentence] : std::vector<std::pair<std::string, std::string>>{
           {"huge module", "the builder process announced more than a bundle can hold"},
           {"compile: huge", "the builder process announced a larger compiled module than there may be"}}) {
    const auto result = build(mode);
    ASSERT_FALSE(result) << mode;
    EXPECT_EQ(result.error().message, sentence);
  }
}

// What was found odd before is told with it.
TEST_F(NodeTest, a_module_is_refused_by_a_builder_of_its_own) {  // spec: M1 M6
  make_node();
  for (const auto& [mode, sentence] : std::vector<std::pair<std::string, std::string>>{
           {"compile: refuse", "it is a component"},
           {"compile: memory", "checking and compiling the module needed more than 2 GiB of memory"},
           {"compile: segv",
            "on this bundle, the process that checks and compiles its module was killed by signal 11"},
           {"compile: spin", "checking and compiling the module took more than 1 s of CPU time"}}) {
    const auto result = build(mode);
    ASSERT_TRUE(result) << result.error().message;
    const auto* refused = std::get_if<Refused>(&*result);
    ASSERT_NE(refused, nullptr) << mode;
    EXPECT_NE(refused->refusals.at(0).message.find(sentence), std::string::npos)
        << refused->refusals.at(0).message;
    ASSERT_EQ(refused->warnings.size(), 1U) << mode;
    EXPECT_EQ(refused->warnings.at(0).message, "an odd file");
  }
}

TEST_F(NodeTest, both_builders_share_the_wall_time) {  // spec: M6
  make_node(1, 1, 500ms);
  const Time begin = now();
  const auto result = build("compile: silent");
  EXPECT_LT(now() - begin, 900ms);
  EXPECT_EQ(std::get<Refused>(*result).refusals.at(0).message,
            "checking and compiling the module took longer than 0 s, unpacking included, and was stopped");
}

TEST_F(NodeTest, a_bundle_that_cannot_be_packed_is_told_in_its_own_words) {  // spec: M6
  make_node();
  for (const auto& [mode, sentence] : std::vector<std::pair<std::string, std::string>>{
           {"spin", "packing the bundle took more than 1 s of CPU time and was stopped"},
           {"memory", "packing the bundle needed more than 2 GiB of memory"},
           {"segv",
            "on this bundle, the process that packs it was killed by signal 11 (Segmentation fault)"}}) {
    const auto result = wait(node_->pack(bundle(mode), Fd(memfd_create("packed", MFD_CLOEXEC))));
    ASSERT_TRUE(result) << result.error().message;
    const auto* refused = std::get_if<Refused>(&*result);
    ASSERT_NE(refused, nullptr) << mode;
    EXPECT_EQ(refused->refusals.at(0).message, sentence);
    EXPECT_FALSE(refused->refusals.at(0).hint.empty());
  }
}

TEST_F(NodeTest, nothing_is_begun_for_a_node_that_is_gone) {
  std::optional<Result<Node::BuildResult>> result;
  // On a busy machine its builders may be so quick that it is done at once: then again.
  for (int tries = 0; tries < 50 && (tries == 0 || *result); ++tries) {
    result.reset();
    make_node();
    begin_build("good", [&result](auto ended) { result.emplace(std::move(ended)); });
    io_.restart();
    io_.run_one();  // it unpacks
    node_.reset();
    run_until([&] { return result.has_value(); });
  }
  ASSERT_FALSE(*result);
  EXPECT_EQ(result->error().message, "subako is shutting down");
}

// ---------------------------------------------------------------------------------------------- the cache

class NodeCacheTest : public NodeTest {
 protected:
  NodeCacheTest() { cache_ = folder("cache"); }
  // What the fake worker loads: the text of the module.
  std::string compiled(const BuiltPackagePtr& package) {
    std::string text(100, '\0');
    const ssize_t n = pread(package->module.get(), text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(0, n)));
    return text;
  }
  size_t phases_of(const std::string& mode) {
    size_t phases = 0;
    EXPECT_TRUE(build(mode, [&](BuildPhase) { ++phases; }));
    return phases;
  }
};

TEST_F(NodeCacheTest, a_module_is_compiled_once) {
  make_node();
  const auto first = built();
  EXPECT_FALSE(first->cached);
  make_node();
  const auto second = built();
  EXPECT_TRUE(second->cached);
  EXPECT_EQ(compiled(second), "good");
  EXPECT_EQ(second->compiled_bytes, 4U);
  EXPECT_EQ(second->name, "sample");
  EXPECT_EQ(second->warnings.size(), 1U);
  EXPECT_EQ(phases_of("good"), 0U) << "no builder has compiled";
  const auto check = wait(node_->upload_check(second, nullptr));
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_FALSE(built("another")->cached);
}

TEST_F(NodeCacheTest, another_build_compiles_for_itself) {
  make_node();
  EXPECT_FALSE(built()->cached);
  make_node(1, 14);  // of build 2
  EXPECT_FALSE(built()->cached);
  EXPECT_FALSE(built("by build 2")->cached);
  EXPECT_TRUE(built("by build 2")->cached);
}

// The executable of the children was replaced after the worker had started.
TEST_F(NodeCacheTest, what_another_build_than_the_workers_compiled_is_not_kept) {
  make_node();
  for (const char* mode : {"by build 2", "by nobody"}) {
    EXPECT_EQ(compiled(built(mode)), mode);
    EXPECT_FALSE(built(mode)->cached) << mode;
  }
  EXPECT_EQ(ModuleCache::open(cache_)->usage().entries, 0U);
}

TEST_F(NodeCacheTest, who_cannot_say_what_it_is_keeps_nothing) {
  for (const uint32_t guests : {15U, 16U}) {
    make_node(1, guests);
    EXPECT_FALSE(built()->cached);
    EXPECT_FALSE(built()->cached);
  }
  EXPECT_EQ(ModuleCache::open(cache_)->usage().entries, 0U);
}

TEST_F(NodeCacheTest, what_the_worker_refuses_is_compiled_anew) {
  make_node();
  const GiveUp go_on = false;
  const ModuleKey key(sha256_of("good"), "build 1");
  for (const char* content : {"bad module", "die at load"}) {
    ASSERT_TRUE(ModuleCache::open(cache_)->store(key, bundle(content).file.get(), go_on));
    make_node();
    const auto package = built();
    EXPECT_FALSE(package->cached) << content;
    EXPECT_EQ(compiled(package), "good");
    EXPECT_TRUE(wait(node_->upload_check(package, nullptr))) << "the next worker takes it";
    EXPECT_TRUE(built()->cached) << content;
  }
}

TEST_F(NodeCacheTest, nothing_is_kept_of_a_module_that_is_refused) {  // spec: M1
  make_node();
  EXPECT_TRUE(std::holds_alternative<Refused>(*build("compile: refuse")));
  EXPECT_TRUE(std::holds_alternative<Refused>(*build("refuse")));
  EXPECT_FALSE(build("compile: wrong size"));
  EXPECT_EQ(ModuleCache::open(cache_)->usage().entries, 0U);
}

TEST_F(NodeCacheTest, a_folder_that_is_gone_ends_no_build) {
  make_node();
  std::filesystem::remove_all(cache_);
  EXPECT_EQ(compiled(built()), "good");
  EXPECT_FALSE(built()->cached);
}

TEST_F(NodeCacheTest, the_loop_goes_on_while_another_process_holds_the_lock) {
  make_node();
  EXPECT_FALSE(built("before")->cached);
  Fd holder(open((cache_ + "/.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(holder.get(), LOCK_EX), 0);
  std::optional<Result<Node::BuildResult>> result;
  begin_build("good", [&result](auto ended) { result.emplace(std::move(ended)); });
  io_.restart();
  std::chrono::steady_clock::duration longest{};
  while (!result && io_.stopped() == false) {
    const Time begin = now();
    io_.poll();
    longest = std::max(longest, now() - begin);
    std::this_thread::sleep_for(1ms);
  }
  ASSERT_TRUE(result && *result);
  EXPECT_LT(longest, limits::kCacheLockWait / 2);
  holder.reset();
  EXPECT_FALSE(built()->cached) << "it gave the lock up, and kept nothing";
  EXPECT_TRUE(built()->cached);
}

TEST_F(NodeTest, a_builder_killed_by_others_is_not_the_bundles_fault) {  // spec: M6
  make_node();
  for (const char* mode : {"killed", "half, killed"}) {
    const auto result = build(mode);
    ASSERT_FALSE(result) << mode << ": " << std::get<Refused>(*result).refusals.at(0).message;
    EXPECT_EQ(result.error().code, Code::kUnavailable) << mode;
    EXPECT_EQ(result.error().message, "the builder was killed; the machine may be out of memory: try again")
        << mode;
  }
}

TEST_F(NodeTest, a_builder_that_falls_silent_is_told_by_how_it_did) {
  make_node();
  for (const auto& [mode, sentence] : std::vector<std::pair<std::string, std::string>>{
           {"exit", "the builder process gave no answer: it exited with status 3"},
           {"half", "the other process closed the connection in the middle of a frame"},
           {"hangs up", "the builder process closed its connection without an answer, went on and was ended"},
           {"garbage",
            "the builder process broke the protocol (a frame of 4294967295 bytes was announced; at most "
            "8388608 "
            "are taken) and was ended"}}) {
    const auto result = build(mode);
    ASSERT_FALSE(result) << mode;
    EXPECT_EQ(result.error().message, sentence);
  }
}

TEST_F(NodeTest, a_missing_child_is_one_sentence) {
  node_ = std::make_unique<Node>(io_, scratch_, NodeOptions{.child_executable = "/nowhere/subako-child"});
  EXPECT_EQ(build("good").error().message,
            "starting /nowhere/subako-child (starting the executable): No such file or directory");
}

TEST_F(NodeTest, checks_an_upload) {  // spec: U3
  make_node();
  const auto check = wait(node_->upload_check(built(), nullptr));
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(std::get<CheckedPackage>(check->verdict).tools.at(0).name, "greet");
}

TEST_F(NodeTest, a_crash_at_upload_is_a_refusal) {  // spec: U2 U4
  make_node();
  const auto check = wait(node_->upload_check(built("upload crash"), nullptr));
  const auto& refused = std::get<Refused>(check->verdict);
  EXPECT_EQ(refused.refusals.at(0).rule, "C9");
  EXPECT_EQ(refused.refusals.at(0).message, "the guest trapped");
  EXPECT_EQ(refused.stderr_tail, "last words \xef\xbf\xbd");
}

TEST_F(NodeTest, all_that_was_refused_before_a_crash_is_told_with_it) {  // spec: U4
  make_node();
  const auto check = wait(node_->upload_check(built("upload faults and crash"), nullptr));
  const auto& refused = std::get<Refused>(check->verdict);
  ASSERT_EQ(refused.refusals.size(), 2U);
  EXPECT_EQ(refused.refusals.at(0).message, "the guest trapped");
  EXPECT_EQ(refused.refusals.at(1).rule, "U3");
  EXPECT_EQ(refused.refusals.at(1).message, "a name is missing");
  ASSERT_EQ(refused.warnings.size(), 1U);
  EXPECT_EQ(refused.warnings.at(0).message, "a $ref to elsewhere");
}

TEST_F(NodeTest, two_calls_of_a_module_that_cannot_be_loaded_fail_at_once) {
  make_node();
  check();
  const std::string pid = text(call("who"));
  CheckedPackage bad;
  bad.built = built("bad module");
  bad.tools = package_.tools;
  std::vector<Result<CallRecord>> ends;
  const auto begin = now();
  for (int i = 0; i < 2; ++i) {
    CallRequest request{.package = &bad, .tool = "answer", .arguments = "{}", .trees = &trees_};
    asio::co_spawn(
        io_, node_->call(std::move(request), nullptr),
        [&](const std::exception_ptr&, Result<CallRecord> record) { ends.push_back(std::move(record)); });
  }
  run_until([&] { return ends.size() >= 2; });
  EXPECT_LT(now() - begin, 2s);
  for (const auto& end : ends) {
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, Code::kInternal);
    EXPECT_EQ(end.error().message, "the worker could not load the compiled module: it is damaged");
  }
  EXPECT_EQ(text(call("who")), pid) << "the worker lives";
}

TEST_F(NodeTest, a_module_that_cannot_be_handed_over_leaves_nothing_behind) {
  make_node();
  auto package = std::make_shared<BuiltPackage>();  // its module is no descriptor
  package->name = "sample";
  const auto begin = now();
  for (int i = 0; i < 2; ++i) {
    const auto checked = wait(node_->upload_check(package, nullptr));
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().message, "handing a module to a worker: Bad file descriptor");
  }
  EXPECT_LT(now() - begin, 2s);
}

TEST_F(NodeTest, what_an_upload_reports_is_bounded_and_checked) {  // spec: U3
  make_node();
  const auto many = wait(node_->upload_check(built("many refusals"), nullptr));
  const auto& refusals = std::get<Refused>(many->verdict).refusals;
  ASSERT_EQ(refusals.size(), 1001U);
  EXPECT_LT(refusals.at(0).message.size(), 17'000U);
  EXPECT_EQ(refusals.back().message, "4000 more reasons are left out here");
  for (const char* mode : {"bad tools", "tool injection", "upload host fault", "bad module", "die at load"}) {
    const auto check = wait(node_->upload_check(built(mode), nullptr));
    ASSERT_FALSE(check) << mode;
    EXPECT_EQ(check.error().code, Code::kInternal) << check.error().message;
  }
}

TEST_F(NodeTest, a_tool_that_is_not_listed_starts_nothing) {  // spec: C11
  make_node();
  check();
  const auto record = call("absent");
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, Code::kNotFound);
}

TEST_F(NodeTest, preopens_come_in_order_with_their_trees) {  // spec: F1
  make_node();
  check();
  trees_.skills.push_back({"zip", Fd(open(folder("z").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))});
  trees_.skills.push_back({"pdf", Fd(open(folder("p").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))});
  EXPECT_EQ(text(call("where")),
            "/volume/tmp rw=tmp;/package ro=assets;/skills ro;/skills/pdf ro=p;/skills/zip ro=z;");
  trees_.volume = volume(2, true);
  EXPECT_EQ(text(call("where")),
            "/volume/tmp rw=tmp;/volume/data rw=data;/package ro=assets;/skills ro;/skills/pdf "
            "ro=p;/skills/zip ro=z;");
}

TEST_F(NodeTest, too_many_skills_are_refused) {  // spec: F1
  make_node();
  check();
  for (int i = 0; i < 62; ++i) trees_.skills.push_back({std::to_string(i), Fd(dup(trees_.volume->tmp().get()))});
  EXPECT_EQ(text(call("answer")), "error: a call can have 61 skills at most, not 62");
}

TEST_F(NodeTest, a_broken_worker_ends_its_runs_and_the_next_call_has_a_new_one) {  // spec: C9
  make_node();
  check();
  const std::string kEnded = " and was ended";
  for (const auto& [tool, end] : std::vector<std::pair<std::string, std::string>>{
           {"die", "that ran the function exited with status 3"},
           {"segv", "that ran the function was killed by signal 11 (Segmentation fault)"},
           {"no_message", "sent what is no message" + kEnded},
           {"half_frame", "that ran the function exited with status 0"},
           {"unknown_run", "ended a run that there isn't" + kEnded},
           {"no_outcome", "ended a call without an outcome" + kEnded},
           {"bad_cause", "named a cause of a crash that there isn't" + kEnded},
           {"no_json", "passed on an answer that is no JSON object" + kEnded},
           {"not_utf8", "passed on an answer that is no JSON object" + kEnded},
           {"no_result", "passed on an answer that is no CallToolResult" + kEnded},
           {"much_stderr", "kept more stderr than it may" + kEnded},
           {"silent", "did not end a run in time" + kEnded}}) {
    package_ = {};
    check();  // of another version: one at whose deaths nothing is known
    EXPECT_EQ(text(call(tool)), "host: the worker process " + end) << tool;
    EXPECT_EQ(text(call("answer")), "hello") << "after " << tool;
  }
  package_ = {};
  check();
  EXPECT_EQ(text(call("garbage")),
            "host: the worker process broke the protocol (a frame of 4294967295 bytes was announced; at "
            "most 8388608 are taken) and was ended");
}

TEST_F(NodeTest, a_second_end_of_a_run_costs_the_worker_not_the_answer) {
  make_node();
  check();
  EXPECT_EQ(text(call("two_ended")), "first");
  // The worker may or may not have been found out before the next call is on it.
  const std::string next = text(call("answer"));
  EXPECT_TRUE(next == "hello" ||
              next == "host: the worker process ended a run that there isn't and was ended")
      << next;
  EXPECT_EQ(text(call("answer")), "hello");
}

TEST_F(NodeTest, a_dead_worker_takes_all_its_runs) {
  make_node();
  check();
  std::vector<std::string> ends;
  const auto note = [&](const std::exception_ptr&, Result<CallRecord> record) {
    ends.push_back(text(record));
  };
  for (const char* tool : {"hold", "hold", "die"}) asio::co_spawn(io_, task(tool, nullptr, 10s), note);
  run_until([&] { return ends.size() >= 3; });
  EXPECT_EQ(ends, std::vector<std::string>(
                      3, "host: the worker process that ran the function exited with status 3"));
}

TEST_F(NodeTest, cancels) {  // spec: C12
  make_node();
  check();
  Watch watch;
  watch.cancel_when_started = true;
  const auto record = call("silent", &watch);
  EXPECT_TRUE(std::holds_alternative<protocol::WasCancelled>(record->outcome)) << text(record);
  Watch before;
  before.cancel();
  EXPECT_TRUE(std::holds_alternative<protocol::WasCancelled>(call("answer", &before)->outcome))
      << "before it began";
}

TEST_F(NodeTest, a_worker_that_does_not_confirm_a_cancel_is_killed) {  // spec: C12
  make_node();
  check();
  Watch watch;
  watch.cancel_when_started = true;
  const auto begin = now();
  EXPECT_EQ(text(wait(task("deaf", &watch, 60s))),
            "host: the worker process did not confirm a cancel in time and was ended");
  EXPECT_LT(now() - begin, 2s);
}

// Cancels a call 50 ms after it began, and tells how long it took to end after that.
TEST_F(NodeTest, cancels_while_the_worker_is_not_ready_or_does_not_take_the_module) {  // spec: C12
  for (const auto& [guests, module] :
       std::vector<std::pair<uint32_t, std::string>>{{13, "good"}, {10, "never loads"}}) {
    make_node(1, guests);
    package_ = {};
    check(module);
    Watch watch;
    Time cancelled_at;
    asio::steady_timer timer(io_, 50ms);
    timer.async_wait([&](const boost::system::error_code&) {
      cancelled_at = now();
      watch.cancel();
    });
    const auto record = wait(task("answer", &watch));
    EXPECT_LT(now() - cancelled_at, 100ms) << module;
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_TRUE(std::holds_alternative<protocol::WasCancelled>(record->outcome)) << text(record);
    EXPECT_FALSE(watch.is_started);
    Watch of_check;
    timer.expires_after(50ms);
    timer.async_wait([&](const boost::system::error_code&) { of_check.cancel(); });
    const auto checked = wait(node_->upload_check(package_.built, &of_check));
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, Code::kCancelled);
    if (guests == 13) continue;
    package_.built = built();
    EXPECT_EQ(text(call("answer")), "hello") << "the worker lives";
  }
}

TEST_F(NodeTest, a_worker_that_does_not_read_is_ended) {
  make_node();
  check();
  Watch watch;
  EXPECT_EQ(text(wait(task("chatter", &watch, 60s))),
            "host: the worker process did not read what it was sent and was ended");
}

TEST_F(NodeTest, many_large_calls_at_once_wait_for_the_worker_to_read) {
  make_node(1, 100);
  check();
  const std::string large = R"({"a":")" + std::string(20'000, 'x') + "\"}";
  std::vector<std::string> ends;
  for (int i = 0; i < 100; ++i) {
    CallRequest request{.package = &package_, .tool = "answer", .arguments = large, .trees = &trees_};
    asio::co_spawn(
        io_, node_->call(std::move(request), nullptr),
        [&](const std::exception_ptr&, Result<CallRecord> record) { ends.push_back(text(record)); });
  }
  run_until([&] { return ends.size() >= 100; });
  EXPECT_EQ(ends, std::vector<std::string>(100, "else"));
}

TEST_F(NodeTest, what_a_watch_throws_is_not_swallowed) {
  struct Throws : Watch {
    void stderr_arrived(uint64_t, std::string_view) override { throw std::logic_error("a bug"); }
  };
  make_node();
  check();
  Throws watch;
  bool ended = false;
  asio::co_spawn(io_, task("stderr", &watch, 5s),
                 [&](const std::exception_ptr&, const Result<CallRecord>&) { ended = true; });
  EXPECT_THROW(run_until([&] { return ended; }), std::logic_error);
  node_.reset();
  run_until([&] { return ended; });
}

TEST_F(NodeTest, stderr_comes_live_with_credit) {  // spec: C7
  make_node();
  check();
  Watch watch;
  EXPECT_EQ(text(call("stderr", &watch)), "credited");
  EXPECT_EQ(watch.heard, "[7]" + std::string(1000, 'e'));
}

TEST_F(NodeTest, stderr_that_did_not_come_live_is_told_at_the_end) {  // spec: C7
  make_node();
  check();
  Watch watch;
  EXPECT_EQ(text(call("stderr_rest", &watch)), "x");
  EXPECT_EQ(watch.heard, "[0]abc[1]cdefgh");
}

TEST_F(NodeTest, stderr_beyond_its_credit_ends_the_worker) {
  make_node();
  check();
  Watch watch;
  watch.take_at_once = false;
  EXPECT_EQ(text(call("stderr_flood", &watch)),
            "host: the worker process sent more stderr than it had credit for and was ended");
  EXPECT_LE(watch.heard.size(), 65 * 1024U);
}

TEST_F(NodeTest, calls_wait_for_a_slot) {
  make_node(1, 2);
  check();
  std::vector<std::string> ends;
  const auto note = [&](const std::exception_ptr&, Result<CallRecord> record) {
    ends.push_back(text(record));
  };
  for (const char* tool : {"hold", "answer", "release"}) asio::co_spawn(io_, task(tool, nullptr, 5s), note);
  run_until([&] { return ends.size() >= 3; });
  EXPECT_EQ(ends.front(), "hello");
  EXPECT_EQ(std::set<std::string>(ends.begin() + 1, ends.end()), (std::set<std::string>{"held", "released"}));
}

TEST_F(NodeTest, a_call_is_cancelled_while_it_waits_for_a_slot) {  // spec: C12
  make_node(1, 1);
  check();
  std::vector<std::string> ends;
  const auto note = [&](const std::exception_ptr&, Result<CallRecord> record) {
    ends.push_back(text(record));
  };
  Watch holding;
  Watch waiting;
  asio::co_spawn(io_, task("silent", &holding, 5s), note);
  asio::co_spawn(io_, task("answer", &waiting, 5s), note);
  run_until([&] { return holding.is_started; });
  waiting.cancel();
  run_until([&] { return !ends.empty(); });
  EXPECT_EQ(ends.at(0), "[the call was cancelled]");
  holding.cancel();
  run_until([&] { return ends.size() >= 2; });
}

TEST_F(NodeTest, calls_spread_over_the_workers) {
  make_node(3, 10);
  check();
  std::vector<std::string> pids;
  size_t held = 0;
  std::array<Trees, 6> sessions;  // the calls of one run in one worker
  for (Trees& session : sessions) session.volume = volume(10 + static_cast<uint64_t>(&session - sessions.data()));
  for (size_t i = 0; i < 3; ++i) {
    asio::co_spawn(io_, task("hold", nullptr, 200ms, &sessions[i]),
                   [&](const std::exception_ptr&, const Result<CallRecord>&) { ++held; });
    asio::co_spawn(io_, task("who", nullptr, 5s, &sessions[3 + i]), [&](const std::exception_ptr&, Result<CallRecord> record) {
      pids.push_back(text(record));
    });
  }
  run_until([&] { return pids.size() >= 3; });
  EXPECT_GE((std::set<std::string>(pids.begin(), pids.end()).size()), 2U);
  run_until([&] { return held >= 3; });
}

TEST_F(NodeTest, a_worker_is_given_a_volume_once_and_says_what_it_holds) {  // spec: F5
  make_node();
  check();
  EXPECT_EQ(text(call("volume")), "1 of 10737418240 holds 0 in 0");
  EXPECT_EQ(text(call("volume")), "1 of 10737418240");
  EXPECT_EQ(trees_.volume->counts(), volume::Counts{});
  EXPECT_EQ(call("count")->measures.volume, (volume::Counts{77, 77}));
  EXPECT_EQ(trees_.volume->counts(), (volume::Counts{77, 77}));
  trees_.volume = volume(2);
  EXPECT_EQ(text(call("volume")), "2 of 10737418240 holds 0 in 0 dropped 1") << "nobody has the first any more";
}

TEST_F(NodeTest, what_a_worker_says_of_a_volume_is_bounded) {  // spec: F5
  make_node();
  check();
  EXPECT_EQ(text(call("boast")), "counted");
  EXPECT_EQ(trees_.volume->counts(), volume::kMostCounts);
}

TEST_F(NodeTest, a_volume_is_counted_before_the_first_call_and_after_its_worker_has_died) {  // spec: F5
  make_node();
  check();
  trees_.volume = volume(2, true, SessionVolume::Holds::kUnknown);
  EXPECT_FALSE(trees_.volume->counts());
  EXPECT_EQ(text(call("volume")), "2 of 10737418240 holds 7 in 2") << "a file 'mark' in each tree";
  EXPECT_EQ(text(call("count")), "counted");
  const auto died = call("die");
  EXPECT_FALSE(died->measures.volume);
  EXPECT_FALSE(trees_.volume->counts());
  EXPECT_EQ(text(call("volume")), "2 of 10737418240 holds 7 in 2") << "77 isn't believed any more";
}

TEST_F(NodeTest, calls_that_wait_for_a_count_are_cancelled_each_by_itself) {  // spec: F5, C12
  make_node();
  check();
  trees_.volume = volume(2, true, SessionVolume::Holds::kUnknown);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(mkdirat(trees_.volume->data().get(), std::to_string(i).c_str(), 0700), 0);
  struct Counted final : Watch {
    void counting_volume() override { cancel(); }
  };
  Counted first;
  Watch second;
  std::vector<std::string> ends;
  for (CallWatch* watch : std::initializer_list<CallWatch*>{&first, &second}) {
    asio::co_spawn(io_, task("volume", watch, 5s), [&](const std::exception_ptr&, Result<CallRecord> record) {
      const bool cancelled = record && std::holds_alternative<protocol::WasCancelled>(record->outcome);
      ends.push_back(cancelled ? "cancelled" : text(record));
    });
  }
  run_until([&] { return ends.size() == 2; });
  EXPECT_EQ(ends, (std::vector<std::string>{"cancelled", "2 of 10737418240 holds 7 in 3002"}));
}

TEST_F(NodeTest, a_node_that_goes_while_it_counts_ends_the_call) {  // spec: F5
  make_node();
  check();
  trees_.volume = volume(2, true, SessionVolume::Holds::kUnknown);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(mkdirat(trees_.volume->data().get(), std::to_string(i).c_str(), 0700), 0);
  struct Going final : Watch {
    void counting_volume() override { counting = true; }
    bool counting = false;
  } watch;
  std::string end;
  asio::co_spawn(io_, task("volume", &watch, 5s), [&](const std::exception_ptr&, const Result<CallRecord>& record) { end = text(record); });
  run_until([&] { return watch.counting; });
  node_.reset();
  run_until([&] { return !end.empty(); });
  EXPECT_EQ(end, "error: subako is shutting down");
}

TEST_F(NodeTest, a_folder_that_cannot_be_counted_fails_the_call_in_a_sentence) {  // spec: F5
  make_node();
  check();
  const Fd file(memfd_create("no folder", MFD_CLOEXEC));
  trees_.volume = std::make_shared<SessionVolume>(2, SessionVolume::Folders{.tmp = Fd(dup(file.get()))}, SessionVolume::Holds::kUnknown);
  EXPECT_EQ(text(call("volume")), "error: counting the Volume: a folder in it cannot be read: Not a directory");
  trees_.volume = volume(3);
  EXPECT_EQ(text(call("volume")), "3 of 10737418240 holds 0 in 0");
}

TEST_F(NodeTest, a_session_moves_to_another_worker_with_its_counts_but_not_while_it_has_calls) {  // spec: F5
  make_node(2, 10);
  check();
  Trees other{.volume = volume(2), .skills = {}};
  EXPECT_EQ(text(call("count")), "counted");
  Watch holding;
  std::vector<std::string> ends;
  const auto note = [&](const std::exception_ptr&, const Result<CallRecord>& record) { ends.push_back(text(record)); };
  asio::co_spawn(io_, task("hold", &holding, 5s, &other), note);
  run_until([&] { return holding.is_started; });
  EXPECT_EQ(text(call("volume")), "1 of 10737418240 holds 77 in 77") << "in a second worker, as the first has a call";
  EXPECT_EQ(text(wait(task("volume", nullptr, 100ms, &other))), "2 of 10737418240 dropped 1")
      << "in the first, which has its ledger, and let go of the other's";
  holding.cancel();
  run_until([&] { return ends.size() == 1; });
}

TEST_F(NodeTest, a_session_does_not_move_while_an_ended_run_may_still_change_its_volume) {  // spec: F5
  make_node(2, 10);
  check();
  Trees other{.volume = volume(2), .skills = {}};
  Watch holding;
  std::vector<std::string> ends;
  const auto note = [&](const std::exception_ptr&, const Result<CallRecord>& record) { ends.push_back(text(record)); };
  asio::co_spawn(io_, task("hold", &holding, 5s), note);
  run_until([&] { return holding.is_started; });
  EXPECT_EQ(text(wait(task("leaves", nullptr, 5s, &other))), "ended") << "in a second worker";
  EXPECT_EQ(other.volume->counts(), (volume::Counts{5, 5}));
  holding.cancel();
  run_until([&] { return ends.size() == 1; });
  EXPECT_EQ(text(wait(task("volume", nullptr, 5s, &other))), "2 of 10737418240 holds 7 in 7") << "in the first";
}

TEST_F(NodeTest, a_late_word_without_counts_says_nothing_of_a_volume) {  // spec: F5
  make_node();
  check();
  EXPECT_EQ(text(call("left_without_counts")), "ended");
  EXPECT_EQ(trees_.volume->counts(), (volume::Counts{9, 9}));
}

TEST_F(NodeTest, a_node_that_goes_ends_its_calls) {
  make_node();
  check();
  std::string end;
  Watch watch;
  asio::co_spawn(io_, task("silent", &watch, 60s),
                 [&](const std::exception_ptr&, Result<CallRecord> record) { end = text(record); });
  run_until([&] { return watch.is_started; });
  node_.reset();
  run_until([&] { return !end.empty(); });
  EXPECT_EQ(end, "host: subako was shut down");
}

TEST_F(NodeTest, timeouts_are_within_their_bounds) {  // spec: L1
  make_node();
  check();
  EXPECT_EQ(text(wait(task("answer", nullptr, 0ms))), "error: a timeout is between 1 ms and 300 s, not 0 ms");
  EXPECT_EQ(text(wait(task("answer", nullptr, 300'001ms))),
            "error: a timeout is between 1 ms and 300 s, not 300001 ms");
}

// ---------------------------------------------------------------------------------------------- who may start

TEST_F(NodeTest, past_the_queue_callers_hear_at_once_when_to_try_again) {  // spec: P8
  NodeOptions options;
  options.child_executable = NODE_TEST_CHILD;
  options.guests_per_worker = 1;
  options.queued_calls = 3;
  options.queued_calls_of_session = 2;
  make_node(options);
  check();
  std::vector<std::string> ends;
  const auto note = [&](const std::exception_ptr&, Result<CallRecord> record) { ends.push_back(text(record)); };
  asio::co_spawn(io_, task("hold", nullptr, 5s), note);
  std::array<Trees, 4> sessions;
  for (Trees& one : sessions) one.volume = volume(10 + static_cast<uint64_t>(&one - sessions.data()));
  for (int i = 0; i < 3; ++i) asio::co_spawn(io_, task("answer", nullptr, 5s, &sessions.at(static_cast<size_t>(i))), note);
  io_.restart();
  io_.poll();
  const auto refused = wait(task("answer", nullptr, 5s, &sessions[3]));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kBusy);
  EXPECT_EQ(refused.error().message, "this node is busy (3 calls wait for a worker already): try again in 1 s");
  EXPECT_EQ(refused.error().retry_after, 1s);
  EXPECT_TRUE(ends.empty());
  node_.reset();
  run_until([&] { return ends.size() >= 4; });
}

TEST_F(NodeTest, a_budget_too_small_for_one_guest_is_told) {  // spec: L2
  NodeOptions options;
  options.child_executable = NODE_TEST_CHILD;
  options.memory_bytes = 100 * limits::kMiB;
  make_node(options);
  const auto checked = wait(node_->upload_check(built(), nullptr));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::kInvalid);
  EXPECT_NE(checked.error().message.find("too little for 1 worker and one guest at its limit"), std::string::npos)
      << checked.error().message;
}

TEST_F(NodeTest, a_worker_that_dies_at_its_start_again_and_again_is_told_and_not_spun_on) {
  make_node(1, 17);
  auto package = std::make_shared<BuiltPackage>();
  const auto first = wait(node_->upload_check(package, nullptr));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().message, "the worker process that ran the function exited with status 5");
  const auto begin = now();
  const auto second = wait(node_->upload_check(package, nullptr));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kUnavailable);
  EXPECT_EQ(second.error().message,
            "workers die at their start, 3 in a row (the worker process that ran the function exited with status 5): try "
            "again in some seconds");
  EXPECT_LT(now() - begin, 100ms);
}

TEST_F(NodeTest, a_worker_that_cannot_be_started_is_tried_once_for_all_that_were_to_have_it) {
  NodeOptions options;
  options.child_executable = "/nowhere/subako-child";
  make_node(options);
  const auto package = std::make_shared<BuiltPackage>();
  const auto check_it = [&]() -> Task<Result<UploadCheck>> { return node_->upload_check(package, nullptr); };
  std::vector<std::string> ends;
  for (int i = 0; i < 5; ++i) {
    asio::co_spawn(io_, check_it(), [&](const std::exception_ptr&, const Result<UploadCheck>& end) {
      ends.push_back(end ? "checked" : end.error().message);
    });
  }
  run_until([&] { return ends.size() == 5; });
  for (const std::string& end : ends) {
    const bool told = end.find("starting /nowhere/subako-child") != std::string::npos;
    EXPECT_TRUE(told) << end;
  }
}

TEST_F(NodeTest, a_version_that_was_running_at_two_deaths_runs_with_nobody_else) {
  make_node(1, 10);
  check();
  const auto first = text(call("segv"));
  EXPECT_EQ(first.find("; "), std::string::npos) << first;
  const auto second = text(call("segv"));
  EXPECT_NE(second.find("; this package was running in 2 workers that died"), std::string::npos) << second;
  const CheckedPackage bad = package_;
  package_ = {};
  check();
  const std::string shared = text(call("who"));
  EXPECT_EQ(text(call("who")), shared);
  package_ = bad;
  const std::string own = text(call("who"));
  EXPECT_NE(own, shared);
  EXPECT_NE(text(call("who")), own) << "it ends when it is idle";
  for (uint32_t i = 2; i < limits::kCleanRunsToForgive; ++i) EXPECT_EQ(text(call("answer")), "hello");
  EXPECT_EQ(text(call("who")), shared) << "it has ended well for a while";
}

TEST_F(NodeTest, a_run_that_did_not_confirm_its_cancel_counts_as_a_death) {
  make_node();
  check();
  for (int i = 0; i < 2; ++i) {
    Watch watch;
    watch.cancel_when_started = true;
    const auto end = text(wait(task("deaf", &watch, 60s)));
    EXPECT_EQ(end.find("; this package was running in 2 workers") != std::string::npos, i == 1) << end;
  }
}

TEST_F(NodeTest, calls_of_a_session_are_in_one_worker) {  // spec: F5
  make_node(3, 10);
  check();
  std::map<uint64_t, std::set<std::string>> pids;
  size_t ended = 0;
  std::array<Trees, 3> sessions;
  for (Trees& one : sessions) one.volume = volume(10 + static_cast<uint64_t>(&one - sessions.data()));
  for (uint64_t i = 0; i < 12; ++i) {
    const uint64_t session = i % 3;
    CallRequest request{.package = &package_, .tool = "who", .arguments = "{}", .trees = &sessions.at(session)};
    asio::co_spawn(io_, node_->call(std::move(request), nullptr),
                   [&pids, &ended, session](const std::exception_ptr&, Result<CallRecord> record) {
                     pids[session].insert(text(record));
                     ++ended;
                   });
  }
  run_until([&] { return ended >= 12; });
  std::set<std::string> all;
  for (const auto& [session, there] : pids) {
    EXPECT_EQ(there.size(), 1U);
    all.insert(there.begin(), there.end());
  }
  EXPECT_EQ(all.size(), 3U);
}

TEST_F(NodeTest, what_a_worker_says_of_memory_is_checked) {  // spec: L2
  make_node();
  for (const auto& [tool, end] : std::vector<std::pair<std::string, std::string>>{
           {"returns_memory", "gave back memory that it had not been granted"},
           {"wants_nothing", "asked for less memory than it needs"}}) {
    package_ = {};
    check();
    EXPECT_EQ(text(call(tool)), "host: the worker process " + end + " and was ended");
  }
  EXPECT_EQ(text(call("wants_much")), "granted " + std::to_string(limits::kFullGuestBytes));
}

}  // namespace
}  // namespace subako::core
