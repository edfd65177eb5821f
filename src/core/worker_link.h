// A worker process as core sees it: its modules, its runs, and how it ends; private to core.
//
// A worker that breaks the protocol, or stays silent beyond its time, is killed; all its runs then end with
// the sentence that says so. Owned together by the Node and the coroutines of its runs.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "child/messages.pb.h"
#include "core/call.h"
#include "core/channel.h"
#include "core/signal.h"

namespace subako::core {

// While it lives, the caller's cancel() and taken() come here.
class CallWatchBinding {
 public:
  CallWatchBinding(CallWatch* watch, std::function<void()> on_cancel,
                   std::function<void(uint32_t)> on_taken = {})
      : watch_(watch) {
    if (watch_ == nullptr) return;
    watch_->on_cancel_ = std::move(on_cancel);
    watch_->on_taken_ = std::move(on_taken);
  }
  CallWatchBinding(const CallWatchBinding&) = delete;
  CallWatchBinding& operator=(const CallWatchBinding&) = delete;
  ~CallWatchBinding() {
    if (watch_ == nullptr) return;
    watch_->on_cancel_ = nullptr;
    watch_->on_taken_ = nullptr;
  }

 private:
  CallWatch* watch_;
};

struct WorkerOptions {
  std::string executable;
  uint32_t guests = 1;      // slots
  uint64_t kept_bytes = 0;  // as Configure.kept_bytes
  size_t queue_bytes = kQueueBytes;
  child::Cell cell = {};
};

// What a worker tells whoever keeps it. Called on the loop, from within anything that sends to it or hears it.
class WorkerEvents {
 public:
  virtual ~WorkerEvents() = default;
  virtual void ready(uint32_t guests) = 0;                 // that it can have at once
  virtual void died(bool was_ready, bool by_us) = 0;       // once. By us: not for anything that it did
  virtual uint64_t memory_wanted(uint64_t least, uint64_t bytes) = 0;  // what it gets
  virtual bool memory_returned(uint64_t bytes) = 0;        // false: it hadn't got that
};

class WorkerLink : public std::enable_shared_from_this<WorkerLink> {
 public:
  // The error says why the process couldn't be started.
  [[nodiscard]] static Result<std::shared_ptr<WorkerLink>> start(asio::io_context& io,
                                                                 const WorkerOptions& options,
                                                                 std::unique_ptr<WorkerEvents> events);
  WorkerLink(asio::io_context& io, std::shared_ptr<Channel> channel, uint32_t guests,
             std::unique_ptr<WorkerEvents> events);

  // How a worker failed a run: one sentence.
  template <class T>
  using OrDeath = std::expected<T, std::string>;

  // Each ends at once where `watch` (may be null) is cancelled (spec: C12); the worker goes on.
  //
  // Waits until it is ready, where it isn't. False: cancelled.
  [[nodiscard]] Task<OrDeath<bool>> ready(CallWatch* watch);
  // Its number for the package's module, which it is given where it hasn't got it. None: cancelled.
  [[nodiscard]] Task<Result<std::optional<uint64_t>>> load(BuiltPackagePtr package, CallWatch* watch);
  // `start` but its run number; the run may take `allowed` at most before the worker is thought dead. `volume`: of its session, counted, where
  // it has one; it is this worker's from now on.
  [[nodiscard]] Task<OrDeath<child::Ended>> run(child::StartRun start, std::vector<Fd> descriptors,
                                                std::chrono::milliseconds allowed, CallWatch* watch,
                                                std::shared_ptr<SessionVolume> volume = nullptr);
  // Kills the worker; what still runs ends with `reason`.
  void die(std::string reason) { end(std::move(reason), false); }
  // The same, where nobody needs it any more.
  void retire();

  // Of one that is dead: waits until its process has ended, which may still change files; not for ever, as one that stands in the kernel may
  // take long.
  [[nodiscard]] Task<void> gone();

  // Once ready: what it says of itself (Ready.identity).
  [[nodiscard]] const std::string& identity() const { return identity_; }
  [[nodiscard]] bool is_ready() const { return ready_ && !dead(); }
  [[nodiscard]] bool dead() const { return death_.has_value(); }
  [[nodiscard]] const std::string& death() const { return *death_; }  // the reason

 private:
  struct Run {
    Run(asio::io_context& io, uint64_t number, CallWatch* of) : id(number), watch(of), changed(io) {}
    uint64_t id;
    CallWatch* watch;
    std::optional<uint64_t> volume;
    Signal changed;
    std::optional<child::Ended> ended;
    std::optional<Time> cancel_deadline;
    uint64_t stderr_in_flight = 0;
    uint64_t stderr_seen = 0;  // bytes, gaps included
  };
  struct Module {
    std::weak_ptr<const BuiltPackage> package;
    Time deadline;
    std::optional<std::string> loaded;  // an empty text: it is there; else the error
  };
  struct NumberedModule {
    uint64_t id = 0;
    std::shared_ptr<Module> module;  // where loading fails, its entry in modules_ goes before those that wait
  };

  static Task<void> read_loop(std::shared_ptr<WorkerLink> self);
  // The text of a misbehaviour, where there is one.
  std::optional<std::string> take(const std::string& body);
  std::optional<std::string> take_stderr(const child::Stderr& message);
  std::optional<std::string> take_ended(child::Ended ended);
  void end(std::string reason, bool by_us);
  std::optional<std::string> take_ready(child::Ready ready);
  std::optional<std::string> take_memory_wanted(const child::MemoryWanted& wanted);
  void send(const child::ToWorker& message, std::vector<Fd> descriptors = {});
  void cancel(Run& run);
  void taken(Run& run, uint32_t bytes);
  static void tell_rest_of_stderr(Run& run);
  // Waits for `done` (true) or a cancel (false); at the deadline the worker is ended: it `did_not` do it.
  Task<OrDeath<bool>> wait_until(std::function<bool()> done, Time deadline, CallWatch* watch,
                                 const char* did_not);
  std::optional<std::string> take_counts(const child::VolumeCounted& message);
  // The error: this worker can't have it.
  std::expected<child::Volume, std::string> take_over(const std::shared_ptr<SessionVolume>& volume);
  void drop_volume(uint64_t number);
  void drop_closed_volumes();
  void drop_unused_modules();
  std::optional<NumberedModule> module_of(const BuiltPackagePtr& package) const;
  Result<NumberedModule> give_module(const BuiltPackagePtr& package);

  asio::io_context& io_;
  std::shared_ptr<Channel> channel_;
  Signal changed_;  // ready, a module loaded, room in the channel, death
  const Time ready_deadline_ = now() + limits::kWorkerStart;
  bool ready_ = false;
  std::string identity_;
  uint32_t guests_;  // that were asked for
  std::unique_ptr<WorkerEvents> events_;
  std::optional<std::string> death_;
  bool gone_ = false;
  std::map<uint64_t, std::shared_ptr<Module>> modules_;
  std::map<uint64_t, std::weak_ptr<SessionVolume>> volumes_;  // whose ledgers it has
  std::map<uint64_t, Run*> runs_;  // each in the frame of its run()
  uint64_t next_id_ = 1;           // of modules and runs; never used twice
};

}  // namespace subako::core
