#include "worker/worker.h"

#include <malloc.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string>
#include <utility>

#include "child/confine.h"
#include "child/envelope.h"
#include "engine/identity.h"
#include "worker/wire.h"

namespace subako::worker {

namespace {

// How long a guest may compute before others get a turn, and how long the loop gives turns before it looks at core's frames.
constexpr std::chrono::microseconds kSlice{2000};
constexpr Nanoseconds kTurnsBudget = 4'000'000;
constexpr Nanoseconds kIdle = std::chrono::nanoseconds(limits::kWorkerIdleTrim).count();

}  // namespace

Worker::Worker(Fd socket, const Clock& clock, child::Tier tier)
    : socket_(std::move(socket)),
      clock_(clock),
      cpu_(clock),
      tier_(tier),
      memory_(
          [this](uint64_t least, uint64_t bytes) {
            child::FromWorker message;
            message.mutable_memory_wanted()->set_least(least);
            message.mutable_memory_wanted()->set_bytes(bytes);
            send(message);
          },
          [this](uint64_t bytes) {
            child::FromWorker message;
            message.mutable_memory_returned()->set_bytes(bytes);
            send(message);
          }) {}

Result<void> Worker::serve() {
  while (true) {
    TRY_VOID(wait());
    TRY(const bool open, receive());
    if (!open) return {};
    wake_due();
    give_turns();
    if (failed_) return std::unexpected(*failed_);
    if (auto flushed = writer_.flush(socket_.get()); !flushed) return std::unexpected(std::move(flushed).error());
  }
}

// Until core sends something, a run's time comes or its task is done, or what is queued can be sent; not at all where a guest
// can run.
Result<void> Worker::wait() {
  std::array<pollfd, 2> watched{{{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = blocking_ ? blocking_->readable() : -1, .events = POLLIN, .revents = 0}}};
  if (!writer_.empty()) watched[0].events |= POLLOUT;
  const std::optional<Nanoseconds> left = wait_at_most();
  const timespec timeout{.tv_sec = left.value_or(0) / 1'000'000'000, .tv_nsec = left.value_or(0) % 1'000'000'000};
  if (ticker_) ticker_->set_active(!runnable_.empty());
  if (ppoll(watched.data(), watched.size(), left ? &timeout : nullptr, nullptr) < 0 && errno != EINTR) {
    return std::unexpected(system_error("the worker cannot wait for core", errno));
  }
  if (watched[1].revents != 0) wake_done();
  if (idle_since_ && clock_.monotonic() >= *idle_since_ + kIdle) trim();
  return {};
}

std::optional<Nanoseconds> Worker::wait_at_most() const {
  if (clogged()) return std::nullopt;
  if (!runnable_.empty()) return 0;
  std::optional<Nanoseconds> until;
  if (!due_.empty()) {
    until = due_.begin()->first;
  } else if (idle_since_) {
    until = *idle_since_ + kIdle;
  }
  if (!until) return std::nullopt;
  return std::max<Nanoseconds>(0, *until - clock_.monotonic());
}

Result<bool> Worker::receive() {
  while (true) {
    TRY(child::FrameReader::Received received, reader_.read_some(socket_.get()));
    for (child::Frame& frame : received.frames) TRY_VOID(handle(std::move(frame)));
    if (received.state == child::FrameReader::State::kClosed) return false;
    if (received.state == child::FrameReader::State::kWouldBlock) return true;
  }
}

Result<void> Worker::handle(child::Frame frame) {
  auto message = child::decode<child::ToWorker>(frame.body);
  if (!message) return fail(Code::kInternal, "core sent a frame that is no message");
  switch (message->request_case()) {
    case child::ToWorker::kConfigure:
      return configure(message->configure());
    case child::ToWorker::kLoadModule:
      load(message->load_module().module(), std::move(frame.descriptors));
      return {};
    case child::ToWorker::kDropModule:
      modules_.erase(message->drop_module().module());
      return {};
    case child::ToWorker::kDropVolume:
      volumes_.drop(message->drop_volume().volume());
      return {};
    case child::ToWorker::kStartRun:
      if (frame.lost) {
        refuse_run(message->start_run().run(), "its trees got lost on their way: the worker has too many files open (ulimit -n)");
      } else if (full()) {
        postponed_.emplace_back(std::move(*message->mutable_start_run()), std::move(frame.descriptors));
      } else {
        start(message->start_run(), std::move(frame.descriptors));
      }
      return {};
    case child::ToWorker::kCancel:
      cancel(message->cancel().run());
      return {};
    case child::ToWorker::kStderrTaken:
      if (const auto run = runs_.find(message->stderr_taken().run()); run != runs_.end()) {
        run->second->log().taken(message->stderr_taken().bytes());
      }
      return {};
    case child::ToWorker::kMemoryAllowed:
      wake_grown(memory_.allow(message->memory_allowed().bytes()));
      return {};
    case child::ToWorker::REQUEST_NOT_SET:
      break;
  }
  return fail(Code::kInternal, "core sent a request that this worker doesn't know: the two are of different builds");
}

Result<void> Worker::configure(const child::Configure& asked) {
  if (engine_) return fail(Code::kInternal, "core configured the worker twice");
  division_ = divide_descriptors(asked.guests());
  TRY(engine_, engine::Engine::for_running(division_.guests, asked.kept_bytes()));
  child::FromWorker reply;
  reply.mutable_ready()->set_identity(engine::identity(*engine_));
  reply.mutable_ready()->set_guests(division_.guests);
  send(reply);
  return {};
}

void Worker::load(uint64_t module, std::vector<Fd> descriptors) {
  child::FromWorker reply;
  reply.mutable_module_loaded()->set_module(module);
  if (!engine_ || descriptors.size() != 1) {
    reply.mutable_module_loaded()->set_error("the module came without its file, or before the worker was configured");
  } else if (auto loaded = engine::LinkedModule::load(*engine_, std::move(descriptors[0]), Run::import_tables())) {
    modules_[module] = *std::move(loaded);
  } else {
    reply.mutable_module_loaded()->set_error(loaded.error().message);
  }
  send(reply);
}

// Threads come after Landlock, which holds those that are started under it.
Result<void> Worker::prepare_for_runs(const child::StartRun& first, const std::vector<Fd>& trees) {
  if (blocking_) return {};
  if (tier_ == child::Tier::kLandlock) TRY_VOID(child::confine_to(confined_trees(first, trees)));
  TRY(blocking_, BlockingThreads::create(limits::kBlockingThreads));
  ticker_ = std::make_unique<Ticker>([this] { engine_->tick(); }, kSlice);
  return {};
}

void Worker::start(const child::StartRun& start, std::vector<Fd> trees) {
  const auto module = modules_.find(start.module());
  if (module == modules_.end()) return refuse_run(start.run(), "the module is not loaded in this worker");
  const auto with_tree = std::ranges::count_if(start.preopens(), [](const auto& p) { return p.has_tree(); });
  if (static_cast<size_t>(with_tree) != trees.size()) return refuse_run(start.run(), "its trees didn't come along");
  if (runs_.contains(start.run())) return refuse_run(start.run(), "there is a run of this number already");
  if (auto prepared = prepare_for_runs(start, trees); !prepared) return refuse_run(start.run(), prepared.error().message);
  std::shared_ptr<volume::Ledger> ledger;
  if (start.has_volume()) {
    ledger = volumes_.ledger_of(start.volume());
    if (ledger == nullptr) return refuse_run(start.run(), "what its Volume holds didn't come along");
  }
  const Surroundings around{*engine_, clock_, cpu_, ids_, *blocking_, division_.share, memory_};
  auto run = std::make_unique<Run>(start, std::move(trees), module->second, around, std::move(ledger));
  Run& started = *run;
  runs_.emplace(started.id(), std::move(run));
  runnable_.push_back(started.id());
  ++counts_.started;
  idle_since_.reset();
}

bool Worker::full() const {
  return blocking_ && runs_.size() + blocking_->left_behind(runs_) >= division_.guests;
}

void Worker::start_postponed() {
  while (!postponed_.empty() && !full()) {
    auto [run, trees] = std::move(postponed_.front());
    postponed_.pop_front();
    start(run, std::move(trees));
  }
}

bool Worker::cancel_postponed(uint64_t id) {
  const auto found = std::ranges::find(postponed_, id, [](const auto& one) { return one.first.run(); });
  if (found == postponed_.end()) return false;
  postponed_.erase(found);
  child::FromWorker message;
  message.mutable_ended()->set_run(id);
  message.mutable_ended()->mutable_cancelled();
  send(message);
  return true;
}

void Worker::cancel(uint64_t id) {
  if (cancel_postponed(id)) return;
  const auto found = runs_.find(id);
  if (found == runs_.end()) return;  // it has ended meanwhile: core has its Ended
  found->second->cancel();
  finish(*found->second);
}

void Worker::wake_done() {
  for (const uint64_t id : blocking_->take_done()) {
    if (const auto left = leaving_.find(id); left != leaving_.end() && left->second->leave()) {
      if (left->second->volume()) {
        child::FromWorker message;
        *message.mutable_volume_counted() = volumes_.left(*left->second->volume(), clock_.monotonic());
        send(message);
      }
      leaving_.erase(left);
    }
    if (const auto run = runs_.find(id); run != runs_.end()) wake(*run->second);
  }
  start_postponed();
}

void Worker::wake_grown(uint64_t id) {
  if (const auto run = runs_.find(id); run != runs_.end()) wake(*run->second);
}

void Worker::wake(Run& run) {
  if (due_.erase({run.due(), run.id()}) > 0) runnable_.push_back(run.id());  // else it runs
}

void Worker::wake_due() {
  const Nanoseconds now = clock_.monotonic();
  while (!due_.empty() && due_.begin()->first <= now) {
    runnable_.push_back(due_.begin()->second);
    due_.erase(due_.begin());
  }
}

void Worker::give_turns() {
  if (runnable_.empty() || clogged()) return;
  ticker_->set_active(true);
  const Nanoseconds until = clock_.monotonic() + kTurnsBudget;
  // Those that can go on queue behind the others, so each gets its turn before one gets a second.
  for (size_t left = runnable_.size(); left > 0 && !clogged() && clock_.monotonic() < until; --left) {
    const uint64_t id = runnable_.front();
    runnable_.pop_front();
    if (const auto run = runs_.find(id); run != runs_.end()) give_turn(*run->second);
  }
}

void Worker::give_turn(Run& run) {
  const Run::Turn turn = run.take_turn();
  send_log(run);
  tell_volume(run, false);
  switch (turn) {
    case Run::Turn::kAgain:
      runnable_.push_back(run.id());
      break;
    case Run::Turn::kWaits:
      due_.emplace(run.due(), run.id());
      break;
    case Run::Turn::kEnded:
      finish(run);
      break;
  }
}

// Tells how a run ended, and forgets it. What of its stderr found no room on the way is in what is kept: core
// tells it from there.
void Worker::finish(Run& run) {
  send_log(run);
  const bool left = run.leave();
  tell_volume(run, true);
  child::FromWorker message;
  *message.mutable_ended() = run.take_ended();
  message.mutable_ended()->set_leaves(!left && run.volume());
  send(message);
  const uint64_t id = run.id();
  due_.erase({run.due(), id});
  if (!left) leaving_.emplace(id, std::move(runs_.at(id)));
  runs_.erase(id);
  ++counts_.ended;
  start_postponed();
  if (runs_.empty()) idle_since_ = clock_.monotonic();
}

// What guests have left in their slots and in the heap.
void Worker::trim() {
  idle_since_.reset();
  engine_->give_back_kept();
  malloc_trim(0);
}

void Worker::send_log(Run& run) {
  const auto piece = run.log().take_live();
  if (!piece) return;
  child::FromWorker message;
  message.mutable_stderr()->set_run(run.id());
  message.mutable_stderr()->set_left_out(piece->left_out);
  message.mutable_stderr()->set_text(piece->text);
  send(message);
}

void Worker::tell_volume(const Run& run, bool at_once) {
  if (!run.volume()) return;
  auto news = volumes_.news_of(*run.volume(), clock_.monotonic(), at_once);
  if (!news) return;
  child::FromWorker message;
  *message.mutable_volume_counted() = *std::move(news);
  send(message);
}

void Worker::refuse_run(uint64_t run, std::string message) {
  child::FromWorker reply;
  child::Ended& ended = *reply.mutable_ended();
  ended.set_run(run);
  ended.mutable_crashed()->set_cause(std::string(protocol::cause_name(protocol::Cause::kHost)));
  ended.mutable_crashed()->set_message(std::move(message));
  send(reply);
}

void Worker::send(const child::FromWorker& message) {
  if (auto pushed = writer_.push({child::encode(message), {}}); !pushed) failed_ = std::move(pushed).error();
}

}  // namespace subako::worker
