// The process that runs guests: one loop on one thread, beside a ticker and threads that stand still in the kernel for guests. Frames from core come in, every guest that can run gets a slice, frames go
// out. Guests never block it: they stand on their fibers while they wait, and a ticker takes the turn from those that
// compute.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/random.h"
#include "base/result.h"
#include "child/frames.h"
#include "child/tier.h"
#include "engine/engine.h"
#include "engine/linked_module.h"
#include "worker/blocking_threads.h"
#include "worker/cpu_clock.h"
#include "worker/descriptor_share.h"
#include "worker/held_volumes.h"
#include "worker/memory_meter.h"
#include "worker/run.h"
#include "worker/ticker.h"

namespace subako::worker {

class Worker {
 public:
  // `socket`: to core, a Unix stream. In Tier::kLandlock the trees of its first run are all that it can open from then on.
  Worker(Fd socket, const Clock& clock, child::Tier tier = child::Tier::kNone);

  // Until core closes the socket. An Error is a fault of ours or of the machine, never of a guest.
  [[nodiscard]] Result<void> serve();

  // Runs of this worker's life. Those between the two are here now.
  struct Counts {
    uint64_t started = 0;
    uint64_t ended = 0;  // however they did
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  [[nodiscard]] Result<bool> receive();  // false: core has closed
  [[nodiscard]] Result<void> handle(child::Frame frame);
  [[nodiscard]] Result<void> configure(const child::Configure& asked);
  void load(uint64_t module, std::vector<Fd> descriptors);
  void start(const child::StartRun& start, std::vector<Fd> trees);
  [[nodiscard]] Result<void> prepare_for_runs(const child::StartRun& first, const std::vector<Fd>& trees);
  void start_postponed();
  [[nodiscard]] bool full() const;
  void cancel(uint64_t run);
  [[nodiscard]] bool cancel_postponed(uint64_t run);

  void wake_done();
  void wake_due();
  void wake_grown(uint64_t run);
  void wake(Run& run);
  void give_turns();
  void give_turn(Run& run);
  void finish(Run& run);
  void send_log(Run& run);
  void tell_volume(const Run& run, bool at_once);
  void refuse_run(uint64_t run, std::string message);
  void send(const child::FromWorker& message);
  [[nodiscard]] Result<void> wait();
  [[nodiscard]] std::optional<Nanoseconds> wait_at_most() const;
  // Core doesn't take what it is sent: what guests would say more has no place to go.
  [[nodiscard]] bool clogged() const { return writer_.queued_bytes() > limits::kWorkerFramesBytes; }
  void trim();

  Fd socket_;
  const Clock& clock_;
  CpuClock cpu_;
  const child::Tier tier_;
  Ids ids_;
  child::FrameReader reader_;
  child::FrameWriter writer_;
  std::optional<engine::Engine> engine_;
  Division division_;  // of the process's descriptors
  std::unique_ptr<Ticker> ticker_;  // both from the first run on
  std::unique_ptr<BlockingThreads> blocking_;
  MemoryMeter memory_;  // outlives the runs
  std::unordered_map<uint64_t, std::shared_ptr<const engine::LinkedModule>> modules_;
  HeldVolumes volumes_;
  std::unordered_map<uint64_t, std::unique_ptr<Run>> runs_;
  std::unordered_map<uint64_t, std::unique_ptr<Run>> leaving_;  // ended, but threads are still at work for them
  // Until what earlier guests have left to be freed is freed: it takes descriptors of their shares.
  std::deque<std::pair<child::StartRun, std::vector<Fd>>> postponed_;
  std::deque<uint64_t> runnable_;
  std::set<std::pair<Nanoseconds, uint64_t>> due_;  // runs that wait, by when
  Counts counts_;
  std::optional<Nanoseconds> idle_since_;  // no guest is here, and what they have left isn't given back yet
  std::optional<Error> failed_;                     // a frame that couldn't be queued
};

}  // namespace subako::worker
