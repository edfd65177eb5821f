#include "core/worker_pool.h"

#include <set>
#include <utility>

#include "base/limits.h"

namespace subako::core {

namespace {

Admission::Limits admission_limits(const NodeOptions& options, const MemoryPlan& plan) {
  Admission::Limits limits;
  limits.memory = plan.guests_bytes;
  limits.workers = std::max(1U, options.workers);
  limits.guests = plan.guests;
  limits.guests_apart = std::min(plan.guests, limits::kGuestsApart);
  limits.queued = options.queued_calls;
  limits.queued_of_session = options.queued_calls_of_session;
  return limits;
}

}  // namespace

// What a worker tells of itself comes here, as long as there is a pool.
class WorkerPool::Events final : public WorkerEvents {
 public:
  Events(std::weak_ptr<WorkerPool> pool, Admission::Worker number)
      : pool_(std::move(pool)), number_(number) {}
  void ready(uint32_t guests) override {
    if (const auto pool = pool_.lock()) pool->ready(number_, guests);
  }
  void died(bool was_ready, bool by_us) override {
    if (const auto pool = pool_.lock()) pool->died(number_, was_ready, by_us);
  }
  uint64_t memory_wanted(uint64_t least, uint64_t bytes) override {
    const auto pool = pool_.lock();
    return pool ? pool->admission_.widen(number_, least, bytes) : 0;
  }
  bool memory_returned(uint64_t bytes) override {
    const auto pool = pool_.lock();
    if (!pool) return true;
    const bool had = pool->admission_.give_back(number_, bytes);
    pool->pump_soon();
    return had;
  }

 private:
  std::weak_ptr<WorkerPool> pool_;
  Admission::Worker number_;
};

WorkerPool::WorkerPool(asio::io_context& io, const NodeOptions& options, const MemoryPlan& plan)
    : io_(io), options_(options), plan_(plan), admission_(admission_limits(options, plan)) {}

std::shared_ptr<VersionRecord> WorkerPool::record_of(const BuiltPackagePtr& package) {
  if (const auto found = versions_.find(package); found != versions_.end()) return found->second;
  std::erase_if(versions_, [](const auto& entry) { return entry.first.expired(); });
  return versions_.emplace(package, std::make_shared<VersionRecord>(next_version_++)).first->second;
}

// ---------------------------------------------------------------------------------------------- who waits

WorkerPool::Slot::Slot(std::shared_ptr<WorkerPool> pool, Admission::Ticket ticket,
                       std::shared_ptr<WorkerLink> worker, Ask ask, uint64_t memory)
    : pool_(std::move(pool)),
      ticket_(ticket),
      worker_(std::move(worker)),
      version_(std::move(ask.version)),
      memory_(memory) {}

WorkerPool::Slot::Slot(Slot&& other) noexcept
    : pool_(std::move(other.pool_)),
      ticket_(other.ticket_),
      worker_(std::move(other.worker_)),
      version_(std::move(other.version_)),
      memory_(other.memory_) {}

WorkerPool::Slot::~Slot() {
  if (!pool_) return;
  pool_->under_way_.erase(ticket_);
  pool_->leave(ticket_);
}

void WorkerPool::Slot::begins() {
  pool_->under_way_.emplace(ticket_, UnderWay{worker_.get(), version_});
}

void WorkerPool::Slot::ended(uint64_t peak_bytes) {
  version_->took(peak_bytes);
  if (!version_->apart()) return version_->ended();
  version_->ended();
  if (!version_->apart()) pool_->admission_.set_apart(version_->number(), false);
}

std::string WorkerPool::Slot::note() const {
  if (pool_->stopped_ || !version_->apart()) return "";
  return "; this package was running in " + std::to_string(limits::kDeathsToSetApart) +
         " workers that died or more: until it has ended well for a while it runs in a worker of its own";
}

Error WorkerPool::busy(const std::string& why) const {
  const auto after = admission_.retry_after(now());
  return {Code::kBusy,
          "this node is busy (" + why + "): try again in " + std::to_string(after.count()) + " s", after};
}

Task<Result<std::optional<WorkerPool::Slot>>> WorkerPool::take(Ask ask, CallWatch* watch) {
  const auto self = shared_from_this();
  if (stopped_) co_return fail(Code::kUnavailable, "subako is shutting down");
  if (watch != nullptr && watch->cancelled()) co_return std::nullopt;
  Admission::Wish wish;
  wish.session = ask.session;
  wish.version = ask.version->number();
  wish.trees = ask.trees;
  wish.memory = ask.version->expected_memory();
  wish.queued_bytes = ask.held_bytes;
  wish.again = ask.again;
  const auto ticket = admission_.join(wish);
  if (!ticket) co_return std::unexpected(busy(ticket.error()));
  struct Leave {  // until the slot does
    WorkerPool& pool;
    Admission::Ticket ticket;
    bool leaves = true;
    ~Leave() {
      pool.waiting_.erase(ticket);
      if (leaves) pool.leave(ticket);
    }
  };
  Leave leave{*this, *ticket};
  Waiting waiting(io_);
  waiting_.emplace(*ticket, &waiting);
  const CallWatchBinding binding(watch, [&waiting] { waiting.woken.notify(); });
  pump();
  while (!waiting.given) {
    if (watch != nullptr && watch->cancelled()) co_return std::nullopt;
    co_await waiting.woken.wait_until(Time::max());
  }
  if (!*waiting.given) co_return std::unexpected(std::move(*waiting.given).error());
  leave.leaves = false;
  co_return Slot(self, *ticket, **std::move(waiting.given), std::move(ask), wish.memory);
}

void WorkerPool::pump() {
  for (bool again = true; again && !stopped_;) {
    again = false;
    // All that are to have one get the same: what is dead at once, or couldn't be started, isn't started anew under its number.
    std::map<Admission::Worker, Result<std::shared_ptr<WorkerLink>>> asked;
    for (const Admission::Start& start : admission_.start()) {
      retire(start.instead_of);
      auto there = asked.find(start.worker);
      if (there == asked.end()) there = asked.emplace(start.worker, worker(start.worker, start.apart)).first;
      if (!there->second) {
        admission_.worker_gone(start.worker);
        again = true;
      }
      if (const auto found = waiting_.find(start.ticket); found != waiting_.end()) {
        found->second->given = there->second;
        found->second->woken.notify();
      }
    }
  }
}

void WorkerPool::pump_soon() {
  if (std::exchange(pump_posted_, true)) return;
  asio::post(io_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->pump_posted_ = false;
    self->pump();
  });
}

void WorkerPool::leave(Admission::Ticket ticket) {
  retire(admission_.leave(ticket, now()));
  pump();
}

void WorkerPool::retire(std::optional<Admission::Worker> unneeded) {
  if (!unneeded) return;
  if (const auto found = workers_.find(*unneeded); found != workers_.end()) found->second->retire();
}

// ---------------------------------------------------------------------------------------------- their lives

Result<std::shared_ptr<WorkerLink>> WorkerPool::worker(Admission::Worker number, bool apart) {
  if (const auto found = workers_.find(number); found != workers_.end()) return found->second;
  if (now() < paused_until_) {
    return fail(Code::kUnavailable, "workers die at their start, " + std::to_string(failed_starts_) +
                                        " in a row (" + last_failure_ + "): try again in some seconds");
  }
  WorkerOptions options;
  options.executable = options_.child_executable;
  options.guests = apart ? std::min(plan_.guests, limits::kGuestsApart) : plan_.guests;
  options.kept_bytes = apart ? 0 : plan_.kept_bytes;
  options.queue_bytes = options_.worker_queue_bytes;
  if (options_.sandbox) options.cell = options_.sandbox->cell();
  auto started = WorkerLink::start(io_, options, std::make_unique<Events>(weak_from_this(), number));
  if (!started) {
    start_failed(started.error().message);
    return started;
  }
  const std::shared_ptr<WorkerLink> link = *std::move(started);
  workers_.emplace(number, link);
  if (link->dead())
    died(number, false, false);  // so soon that it was told before it was known; who gets it tries again
  return link;
}

Result<std::shared_ptr<WorkerLink>> WorkerPool::any_worker() {
  if (stopped_) return fail(Code::kUnavailable, "subako is shutting down");
  const Admission::Worker number = admission_.any_worker();
  auto found = worker(number, false);
  if (!found) admission_.worker_gone(number);
  return found;
}

void WorkerPool::ready(Admission::Worker number, uint32_t guests) {
  failed_starts_ = 0;
  admission_.worker_can(number, guests);
}

void WorkerPool::died(Admission::Worker number, bool was_ready, bool by_us) {
  const auto found = workers_.find(number);
  if (found == workers_.end()) return;
  const std::shared_ptr<WorkerLink> worker = std::move(found->second);
  workers_.erase(found);
  admission_.worker_gone(number);
  if (!by_us) blame(worker.get());
  if (!by_us && !was_ready) start_failed(worker->death());
  pump_soon();  // this may be within a pump
}

void WorkerPool::start_failed(const std::string& why) {
  last_failure_ = why;
  if (++failed_starts_ >= limits::kFailedStarts) paused_until_ = now() + limits::kStartPause;
}

void WorkerPool::blame(const WorkerLink* worker) {
  std::set<VersionRecord*> there;
  for (const auto& [ticket, run] : under_way_) {
    if (run.worker == worker) there.insert(run.version.get());
  }
  for (VersionRecord* version : there) {
    version->died();
    if (version->apart()) admission_.set_apart(version->number(), true);
  }
}

void WorkerPool::stop() {
  stopped_ = true;
  const auto workers = std::exchange(workers_, {});
  for (const auto& [number, worker] : workers) worker->die("subako was shut down");
  for (const auto& [ticket, waiting] : waiting_) {
    if (waiting->given) continue;
    waiting->given = fail(Code::kUnavailable, "subako is shutting down");
    waiting->woken.notify();
  }
}

}  // namespace subako::core
