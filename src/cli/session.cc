#include "cli/session.h"

#include <poll.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <boost/system/system_error.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>

#include "base/copy_fd.h"
#include "child/envelope.h"
#include "cli/stderr_pump.h"
#include "core/asio.h"

namespace subako::cli {

namespace {

namespace asio = core::asio;

// Lets an upload check be cancelled; its stderr is kept for the refusal, not shown.
class SilentWatch final : public core::CallWatch {
 public:
  void stderr_arrived(uint64_t, std::string_view text) override { taken(static_cast<uint32_t>(text.size())); }
};

// Shells, `timeout` and `make` pass on a signal that the process group has had already: within this time it is one.
constexpr std::chrono::milliseconds kOneSignal{200};

// When the first signal came. A handler gets no argument, and a process has one set of handlers.
std::atomic<core::Time::rep> first_signal;

// Whatever this process does after the first (a large folder is removed, a reader doesn't read), one more ends it at once.
// Children end with it; what lies in the scratch folder is swept by the next one.
void end_at_once(int number) {
  if (core::now() - core::Time(core::Time::duration(first_signal.load())) > kOneSignal) _exit(128 + number);
}

void end_at_the_next_signal() {
  first_signal = core::now().time_since_epoch().count();
  struct sigaction action{};
  action.sa_handler = end_at_once;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) (void)sigaction(number, &action, nullptr);
}

bool can_write(int fd) {
  pollfd out{.fd = fd, .events = POLLOUT, .revents = 0};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0;
}

bool failed_by_us(const core::CallRecord& record) {
  const auto* crash = std::get_if<protocol::Crash>(&record.outcome);
  return crash != nullptr && crash->cause == protocol::Cause::kHost;
}

class LiveSession final : public Session {
 public:
  LiveSession(core::Scratch scratch, core::NodeOptions options, const Terminal& terminal, SandboxOption sandbox)
      : terminal_(terminal),
        scratch_(std::move(scratch)),
        options_(std::move(options)),
        sandbox_(std::move(sandbox)),
        signals_(std::in_place, io_, SIGINT, SIGTERM, SIGHUP),
        node_(std::in_place, io_, scratch_, options_) {
    wait_for_signal();
  }

  core::Scratch& scratch() override { return scratch_; }
  child::Sandbox& sandbox() override { return *options_.sandbox; }

  Result<core::Node::BuildResult> build(core::BundleSource source, Progress& progress) override {
    const auto show = [&progress](core::BuildPhase phase) {
      switch (phase) {
        case core::BuildPhase::kUnpacking:
          return progress.show("unpacking");
        case core::BuildPhase::kValidating:
          return progress.show("validating");
        case core::BuildPhase::kCompiling:
          return progress.show("compiling");
      }
    };
    return in_a_sandbox([&]() -> Result<core::Node::BuildResult> {
      TRY(Fd file, copy_of(source.file.get(), "handing the bundle over"));
      return wait(node_->build({std::move(file), source.directory}, show), nullptr, progress);
    });
  }

  Result<core::Node::PackResult> pack(core::BundleSource source, Fd out) override {
    Progress none(false);
    return in_a_sandbox([&]() -> Result<core::Node::PackResult> {
      TRY(Fd file, copy_of(source.file.get(), "handing the bundle over"));
      TRY(Fd to, copy_of(out.get(), "handing the bundle over"));
      return wait(node_->pack({std::move(file), source.directory}, std::move(to)), nullptr, none);
    });
  }

  Result<core::UploadCheck> upload_check(core::BuiltPackagePtr package, Progress& progress) override {
    progress.show("checking");
    SilentWatch watch;
    return wait(node_->upload_check(std::move(package), &watch), &watch, progress);
  }

  Result<core::CallRecord> call(core::CallRequest request, Progress& progress) override {
    StderrPump pump(io_, terminal_, progress);
    auto record = wait(node_->call(std::move(request), &pump), &pump, progress);
    // The reader of our stderr may be slow; a signal ends the wait for it.
    bool drained = false;
    pump.finish([&drained] { drained = true; });
    while (!drained && !signalled_ && io_.run_one() > 0) {
    }
    // Who asked for the end got it, though the worker had to be killed for it.
    if (record && signalled_ && failed_by_us(*record)) record->outcome = protocol::WasCancelled{};
    return record;
  }

  Result<std::vector<core::SeenBlock>> see(const core::CallRecord& record, const core::Trees& trees,
                                           Progress& progress) override {
    progress.show("looking at pictures");
    SilentWatch watch;
    return wait(node_->see(record, trees, {}, &watch), &watch, progress);
  }

  Result<core::ShownPicture> redraw(const core::ShownPicture& picture, core::PictureWish wish,
                                    Progress& progress) override {
    progress.show("drawing");
    SilentWatch watch;
    return wait(node_->redraw(picture, wish, &watch), &watch, progress);
  }

  bool cancelled() override {
    io_.poll();
    return signalled_;
  }

 private:
  // In between they would have their own way, and end the process.
  void hand_over_signals() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    signals_.reset();
    end_at_the_next_signal();
    (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void wait_for_signal() {
    signals_->async_wait([this](const boost::system::error_code& error, int) {
      if (error) return;
      hand_over_signals();
      signalled_ = true;
      if (watch_ != nullptr) watch_->cancel();
      // Last, and only where stderr takes it: nobody may be reading.
      if (!can_write(STDERR_FILENO)) return;
      if (progress_ != nullptr) progress_->clear();
      say_error("cancelled; once more ends it at once");
    });
  }

  template <class T>
  Result<T> wait(core::Task<Result<T>> task, core::CallWatch* watch, Progress& progress) {
    if (signalled_) return fail(Code::kCancelled, "cancelled");
    std::optional<Result<T>> out;
    std::exception_ptr thrown;
    asio::co_spawn(io_, std::move(task), [&](const std::exception_ptr& error, Result<T> result) {
      thrown = error;
      out.emplace(std::move(result));
    });
    watch_ = watch;
    progress_ = &progress;
    // Without a watch nothing can be asked to stop: the job is left where it stands, and ends with its child
    // in ~LiveSession.
    while (!out && (watch != nullptr || !signalled_)) io_.run_one();
    watch_ = nullptr;
    progress_ = nullptr;
    progress.clear();
    if (!out) {
      abandon();
      return fail(Code::kCancelled, "cancelled");
    }
    if (thrown) std::rethrow_exception(thrown);
    return *std::move(out);
  }

  // Of a command's first child: where it couldn't shut itself in as was expected, it has done nothing, and what there is instead is
  // found by trying.
  template <class Ask>
  auto in_a_sandbox(Ask ask) -> decltype(ask()) {
    auto result = ask();
    if (result || options_.sandbox->tried() || result.error().code == Code::kCancelled) return result;
    TRY(auto found, find_sandbox(sandbox_, options_.child_executable, scratch_.path()));
    if (found->cell().tier == options_.sandbox->cell().tier) return result;  // it was something else
    options_.sandbox = std::move(found);
    node_.emplace(io_, scratch_, options_);
    return ask();
  }

  // Its handler points into the frame of wait(): it must never run.
  void abandon() {
    node_.reset();
    io_.stop();
  }

  Terminal terminal_;
  core::Scratch scratch_;  // outlives the frames that io_ holds
  core::NodeOptions options_;
  SandboxOption sandbox_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);  // run_one() waits
  std::optional<asio::signal_set> signals_;  // until the first
  bool signalled_ = false;
  core::CallWatch* watch_ = nullptr;
  Progress* progress_ = nullptr;
  std::optional<core::Node> node_;
};

std::shared_ptr<const core::ModuleCache> open_cache() {
  const auto place = core::ModuleCache::default_place();
  if (!place) return nullptr;
  auto cache = core::ModuleCache::open(place->path);
  if (cache) return std::make_shared<const core::ModuleCache>(*std::move(cache));
  if (place->named) say_error("compiled modules are not kept: " + cache.error().message);
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(const Terminal& terminal, Cache cache, const SandboxOption& sandbox) {
  child::silence_decoding();  // what a child sends wrongly is told by us, in one sentence
  core::NodeOptions options;
  TRY(options.child_executable, core::find_child_executable());
  options.guests_per_worker = 1;
  TRY(core::Scratch scratch, core::Scratch::create(core::Scratch::default_parent()));
  TRY(options.sandbox, expect_sandbox(sandbox, options.child_executable, scratch.path()));
  if (cache == Cache::kUsed) options.cache = open_cache();
  try {
    return std::make_unique<LiveSession>(std::move(scratch), std::move(options), terminal, sandbox);
  } catch (const boost::system::system_error& error) {
    // The loop's own descriptors; Asio has no other way to tell.
    return fail(Code::kUnavailable, "starting: " + error.code().message() + "; is the limit of open files (ulimit -n) very low?");
  }
}

}  // namespace subako::cli
