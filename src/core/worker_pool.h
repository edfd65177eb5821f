// The worker processes of a node: which call goes to which, and what is done when one dies (docs/decisions/0015). core/admission.h
// decides; this keeps the processes and wakes those that wait. Private to core; owned together by the Node and the
// coroutines of its calls.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/admission.h"
#include "core/asio.h"
#include "core/memory_plan.h"
#include "core/node.h"
#include "core/signal.h"
#include "core/version_record.h"
#include "core/worker_link.h"

namespace subako::core {

class WorkerPool : public std::enable_shared_from_this<WorkerPool> {
 public:
  WorkerPool(asio::io_context& io, const NodeOptions& options, const MemoryPlan& plan);

  // What is known of a version. The same for all calls of one package, as long as that lives.
  [[nodiscard]] std::shared_ptr<VersionRecord> record_of(const BuiltPackagePtr& package);

  struct Ask {
    uint64_t session = 0;  // 0: of none
    std::shared_ptr<VersionRecord> version;
    uint64_t trees = 0;       // as Admission::Wish::trees
    uint64_t held_bytes = 0;  // by core, while it waits
    bool again = false;       // a worker died before it ran there
  };
  // A call's place in a worker, given back when this is destroyed.
  class Slot {
   public:
    Slot(std::shared_ptr<WorkerPool> pool, Admission::Ticket ticket, std::shared_ptr<WorkerLink> worker,
         Ask ask, uint64_t memory);
    Slot(Slot&& other) noexcept;
    Slot& operator=(Slot&&) = delete;
    ~Slot();
    [[nodiscard]] const std::shared_ptr<WorkerLink>& worker() const { return worker_; }
    [[nodiscard]] uint64_t memory_bytes() const { return memory_; }  // that it may take without asking
    // From now on the worker's death may be its version's doing.
    void begins();
    // It has ended without one, and took so much.
    void ended(uint64_t peak_bytes);
    // Where a worker has died of it: what people are to know beside that. Empty, or begins with "; ".
    [[nodiscard]] std::string note() const;

   private:
    std::shared_ptr<WorkerPool> pool_;  // null: moved from
    Admission::Ticket ticket_;
    std::shared_ptr<WorkerLink> worker_;
    std::shared_ptr<VersionRecord> version_;
    uint64_t memory_;
  };
  // None: cancelled while it waited. kBusy: too many wait already.
  [[nodiscard]] Task<Result<std::optional<Slot>>> take(Ask ask, CallWatch* watch);

  // For what needs no slot: the one with the fewest calls; a new one rather than one that has any.
  [[nodiscard]] Result<std::shared_ptr<WorkerLink>> any_worker();

  void stop();
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  class Events;
  struct Waiting {  // in the frame that waits
    explicit Waiting(asio::io_context& io) : woken(io) {}
    Signal woken;
    std::optional<Result<std::shared_ptr<WorkerLink>>> given;
  };
  struct UnderWay {
    const WorkerLink* worker;
    std::shared_ptr<VersionRecord> version;
  };

  // Gives what is free to those who are next.
  void pump();
  // In the loop's next turn, however often it is asked for until then.
  void pump_soon();
  Result<std::shared_ptr<WorkerLink>> worker(Admission::Worker number, bool apart);
  void leave(Admission::Ticket ticket);
  void retire(std::optional<Admission::Worker> unneeded);
  void ready(Admission::Worker number, uint32_t guests);
  void died(Admission::Worker number, bool was_ready, bool by_us);
  void start_failed(const std::string& why);
  void blame(const WorkerLink* worker);
  [[nodiscard]] Error busy(const std::string& why) const;

  asio::io_context& io_;
  const NodeOptions options_;
  const MemoryPlan plan_;
  Admission admission_;
  std::map<Admission::Worker, std::shared_ptr<WorkerLink>> workers_;
  std::map<Admission::Ticket, Waiting*> waiting_;
  std::map<Admission::Ticket, UnderWay> under_way_;
  std::map<std::weak_ptr<const BuiltPackage>, std::shared_ptr<VersionRecord>, std::owner_less<>> versions_;
  uint64_t next_version_ = 1;
  uint32_t failed_starts_ = 0;  // in a row
  Time paused_until_{};
  std::string last_failure_;
  bool pump_posted_ = false;
  bool stopped_ = false;
};

}  // namespace subako::core
