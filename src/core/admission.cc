#include "core/admission.h"

#include <utility>

#include <algorithm>
#include <cmath>

namespace subako::core {

namespace {

// Sessions of calls without one: their keys are no session's.
constexpr uint64_t kOwnKey = uint64_t{1} << 63U;

}  // namespace

std::expected<Admission::Ticket, std::string> Admission::join(const Wish& wish) {
  const Ticket ticket = next_ticket_++;
  const uint64_t key = wish.session != 0 ? wish.session : kOwnKey | ticket;
  const auto found = by_key_.find(key);
  if (!wish.again) {
    if (waiting_ >= limits_.queued) {
      return std::unexpected(std::to_string(waiting_) + " calls wait for a worker already");
    }
    if (waiting_ > 0 && waiting_bytes_ + wish.queued_bytes > limits_.queued_bytes) {
      return std::unexpected("the arguments of the " + std::to_string(waiting_) + " calls that wait take " +
                             std::to_string(waiting_bytes_ / limits::kMiB) + " MiB already");
    }
    if (found != by_key_.end() && found->second->waiting.size() >= limits_.queued_of_session) {
      return std::unexpected(std::to_string(found->second->waiting.size()) +
                             " calls of this session wait already");
    }
  }
  Sessions::iterator session;
  if (found != by_key_.end()) {
    session = found->second;
  } else {
    session = running_.insert(running_.end(), Session{.key = key});
    by_key_.emplace(key, session);
  }
  if (session->waiting.empty()) turns_.splice(turns_.end(), running_, session);
  session->waiting.push_back(ticket);
  calls_.emplace(ticket, Call{.wish = wish, .session = session});
  ++waiting_;
  waiting_bytes_ += wish.queued_bytes;
  return ticket;
}

std::vector<Admission::Start> Admission::start() {
  std::vector<Start> out;
  std::vector<Call*> overtaken;
  for (auto session = turns_.begin(); session != turns_.end();) {
    if (apart_.empty() && !shared_room({})) break;
    const auto current = session++;
    const Ticket ticket = current->waiting.front();
    Call& call = calls_.at(ticket);
    Worker where = 0;
    std::optional<Worker> instead_of;
    const Verdict verdict = consider(call, where, instead_of);
    if (verdict == Verdict::kNoMemory) {
      if (call.overtaken >= limits::kOvertaken || left() < limits::kGuestHostBytes) break;
      overtaken.push_back(&call);
    }
    if (verdict != Verdict::kStarts) continue;
    begin(ticket, call, where);
    out.push_back({ticket, where, workers_.at(where).version != 0, instead_of});
    for (Call* one : overtaken) ++one->overtaken;
    if (current->waiting.empty()) continue;
    // Its next one comes after the others'.
    const bool was_last = session == turns_.end();
    turns_.splice(turns_.end(), turns_, current);
    if (was_last) session = current;
  }
  return out;
}

Admission::Verdict Admission::consider(const Call& call, Worker& where, std::optional<Worker>& instead_of) {
  const bool apart = apart_.contains(call.wish.version);
  // Before a worker is added for it.
  const bool fits = call.wish.memory <= left();
  const Session& session = *call.session;
  if (session.running > 0) {
    const auto worker = workers_.find(session.worker);
    if (worker == workers_.end() || worker->second.running >= worker->second.guests) return Verdict::kHeldUp;
    if (worker->second.version != (apart ? call.wish.version : 0)) return Verdict::kHeldUp;
    if (!serves(worker->second, call.wish)) return Verdict::kHeldUp;
    if (!fits) return Verdict::kNoMemory;
    where = session.worker;
    return Verdict::kStarts;
  }
  if (apart && !place_apart(call) && count(true) >= limits_.workers_apart) return Verdict::kHeldUp;
  if (!apart && !shared_room(call.wish)) return Verdict::kHeldUp;
  if (!fits) return Verdict::kNoMemory;
  const std::optional<Worker> there = apart ? place_apart(call) : place_shared(call);
  if (!there && !apart && count(false) >= limits_.workers) {
    instead_of = idle_with_others_trees(call.wish);
    worker_gone(*instead_of);
  }
  where = there ? *there : add_worker(apart ? call.wish.version : 0);
  return Verdict::kStarts;
}

std::optional<Admission::Worker> Admission::place_apart(const Call& call) {
  for (const auto& [number, worker] : workers_) {
    if (worker.version == call.wish.version && worker.running < worker.guests && serves(worker, call.wish)) return number;
  }
  return std::nullopt;
}

// None: another worker rather than one that has calls already.
std::optional<Admission::Worker> Admission::place_shared(const Call& call) {
  const auto least = least_loaded(call.wish);
  if (!least) return std::nullopt;
  const WorkerState& worker = workers_.at(*least);
  if (worker.running > 0 && count(false) < limits_.workers) return std::nullopt;
  return least;
}

bool Admission::serves(const WorkerState& worker, const Wish& wish) {
  return worker.trees == 0 || wish.trees == 0 || worker.trees == wish.trees;
}

std::optional<Admission::Worker> Admission::idle_with_others_trees(const Wish& wish) const {
  for (const auto& [number, worker] : workers_) {
    if (worker.version == 0 && worker.running == 0 && !serves(worker, wish)) return number;
  }
  return std::nullopt;
}

// Of those with a free slot.
std::optional<Admission::Worker> Admission::least_loaded(const Wish& wish) const {
  std::optional<Worker> best;
  uint32_t fewest = 0;
  for (const auto& [number, worker] : workers_) {
    if (worker.version != 0 || worker.running >= worker.guests || !serves(worker, wish)) continue;
    if (best && worker.running >= fewest) continue;
    best = number;
    fewest = worker.running;
  }
  return best;
}

bool Admission::shared_room(const Wish& wish) const {
  return count(false) < limits_.workers || least_loaded(wish) || idle_with_others_trees(wish);
}

size_t Admission::count(bool apart) const {
  return static_cast<size_t>(std::ranges::count_if(
      workers_, [apart](const auto& entry) { return (entry.second.version != 0) == apart; }));
}

Admission::Worker Admission::add_worker(uint64_t version) {
  const Worker number = next_worker_++;
  workers_.emplace(number, WorkerState{.guests = version != 0 ? limits_.guests_apart : limits_.guests,
                                       .version = version});
  return number;
}

Admission::Worker Admission::any_worker() {
  Worker best = 0;
  for (const auto& [number, worker] : workers_) {
    if (worker.version == 0 && (best == 0 || worker.running < workers_.at(best).running)) best = number;
  }
  const bool idle = best != 0 && workers_.at(best).running == 0;
  return idle || count(false) >= limits_.workers ? best : add_worker(0);
}

void Admission::begin(Ticket ticket, Call& call, Worker where) {
  stop_waiting(ticket, call);
  call.worker = where;
  call.session->worker = where;
  ++call.session->running;
  WorkerState& worker = workers_.at(where);
  ++worker.running;
  if (worker.trees == 0) worker.trees = call.wish.trees;
  committed_ += call.wish.memory;
}

void Admission::stop_waiting(Ticket ticket, const Call& call) {
  call.session->waiting.remove(ticket);
  if (call.session->waiting.empty()) running_.splice(running_.end(), turns_, call.session);
  --waiting_;
  waiting_bytes_ -= call.wish.queued_bytes;
}

std::optional<Admission::Worker> Admission::leave(Ticket ticket, Time now) {
  const auto found = calls_.find(ticket);
  if (found == calls_.end()) return std::nullopt;
  const Call call = found->second;
  calls_.erase(found);
  std::optional<Worker> unneeded;
  if (call.worker == 0) {
    stop_waiting(ticket, call);
  } else {
    unneeded = end(call, now);
  }
  forget_if_empty(call.session);
  return unneeded;
}

std::optional<Admission::Worker> Admission::end(const Call& call, Time now) {
  committed_ -= call.wish.memory;
  --call.session->running;
  if (last_end_) {
    constexpr double kWeight = 1.0 / 16;
    between_ends_ += kWeight * (std::chrono::duration<double>(now - *last_end_) - between_ends_);
  }
  last_end_ = now;
  const auto worker = workers_.find(call.worker);
  if (worker == workers_.end()) return std::nullopt;
  if (--worker->second.running > 0) return std::nullopt;
  committed_ -= worker->second.widened;
  worker->second.forgiven += std::exchange(worker->second.widened, 0);
  if (worker->second.version == 0) return std::nullopt;
  worker_gone(call.worker);
  return call.worker;
}

void Admission::forget_if_empty(Sessions::iterator session) {
  if (session->running > 0 || !session->waiting.empty()) return;
  by_key_.erase(session->key);
  running_.erase(session);
}

void Admission::worker_can(Worker worker, uint32_t guests) {
  const auto found = workers_.find(worker);
  if (found != workers_.end()) found->second.guests = std::min(found->second.guests, guests);
}

void Admission::worker_gone(Worker worker) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  committed_ -= found->second.widened;
  workers_.erase(found);
}

uint64_t Admission::widen(Worker worker, uint64_t least, uint64_t bytes) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return 0;
  // Its guests can't need more than this, whatever it says.
  const uint64_t most = uint64_t{found->second.running} * limits::kFullGuestBytes;
  const uint64_t may = std::min(left(), most - std::min(most, found->second.widened));
  if (may < least) return 0;
  const uint64_t granted = std::clamp(bytes, least, may);
  found->second.widened += granted;
  committed_ += granted;
  return granted;
}

bool Admission::give_back(Worker worker, uint64_t bytes) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return true;
  // What is told after the end that it belongs to.
  const uint64_t forgiven = std::min(bytes, found->second.forgiven);
  found->second.forgiven -= forgiven;
  bytes -= forgiven;
  if (bytes > found->second.widened) return false;
  found->second.widened -= bytes;
  committed_ -= bytes;
  return true;
}

void Admission::set_apart(uint64_t version, bool apart) {
  if (apart) {
    apart_.insert(version);
  } else {
    apart_.erase(version);
  }
}

std::chrono::seconds Admission::retry_after(Time now) const {
  if (!last_end_) return limits::kRetryAfterLeast;
  const auto gap = std::max<std::chrono::duration<double>>(between_ends_, (now - *last_end_) / 2);
  const double seconds = std::ceil(gap.count() * static_cast<double>(waiting_ + 1));
  const auto most = static_cast<double>(limits::kRetryAfterMost.count());
  return std::clamp(std::chrono::seconds(static_cast<int64_t>(std::min(seconds, most))),
                    limits::kRetryAfterLeast, limits::kRetryAfterMost);
}

}  // namespace subako::core
