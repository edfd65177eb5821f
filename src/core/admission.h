// Who may start now (spec: P8's queue; docs/decisions/0015): calls that wait, fair between sessions, and the slots and memory that they
// wait for. Pure: no loop, no process; workers are numbers, whose processes the pool keeps (core/worker_pool.h). Private to core.
//
// - Sessions take turns; within one it is first come, first served. What holds up one session (its worker is full, it waits for a
//   worker of its own) holds up no other.
// - All calls of a session run in one worker at a time: while any is under way, the next go there, or wait.
// - A version that was set apart runs in a worker of its own, with nobody else.
// - A worker that can open but the trees of its first run (child/tier.h's second tier) is for runs with just those.
// - Memory: what calls are expected to take, and what workers were granted beyond that, stays within the limit. One that waits for
//   memory may be overtaken by smaller ones, but not for ever.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/limits.h"

namespace subako::core {

class Admission {
 public:
  struct Limits {
    uint64_t memory = 0;  // of all guests; at least what any wish can be
    uint32_t workers = 1;
    uint32_t guests = 1;  // slots of each
    uint32_t workers_apart = limits::kWorkersApart;
    uint32_t guests_apart = limits::kGuestsApart;
    // Of calls that wait.
    uint32_t queued = limits::kQueuedCalls;
    uint32_t queued_of_session = limits::kQueuedCallsOfSession;
    uint64_t queued_bytes = limits::kQueuedBytes;
  };
  using Ticket = uint64_t;
  using Worker = uint64_t;
  using Time = std::chrono::steady_clock::time_point;

  struct Wish {
    uint64_t session = 0;  // 0: of none, and each such is its own
    uint64_t version = 0;
    uint64_t trees = 0;         // which it must be able to open; 0: any worker can
    uint64_t memory = 0;        // bytes
    uint64_t queued_bytes = 0;  // that it holds while it waits
    bool again = false;  // it had started, and the worker failed it before it ran: it isn't turned away
  };
  struct Start {
    Ticket ticket = 0;
    Worker worker = 0;  // one that wasn't named before is to be started
    bool apart = false;
    std::optional<Worker> instead_of = std::nullopt;  // an idle one that is gone by this
  };

  explicit Admission(Limits limits) : limits_(limits) {}

  // The error says what is full: "4096 calls wait for a worker already".
  [[nodiscard]] std::expected<Ticket, std::string> join(const Wish& wish);
  // It waits no longer, or has ended. The worker that nobody needs any more, where there is one: it is gone.
  std::optional<Worker> leave(Ticket ticket, Time now);
  // Those that start now, in their order.
  [[nodiscard]] std::vector<Start> start();

  void worker_can(Worker worker, uint32_t guests);  // fewer than was asked for
  void worker_gone(Worker worker);                  // its calls are to leave by themselves
  // For what needs any worker and no slot: the one with the fewest calls, or a number that is new.
  [[nodiscard]] Worker any_worker();

  // A worker's guests need more than their calls were expected to. What it gets, up to `bytes`; 0 where `least` isn't there.
  [[nodiscard]] uint64_t widen(Worker worker, uint64_t least, uint64_t bytes);
  // False: it was never granted so much.
  [[nodiscard]] bool give_back(Worker worker, uint64_t bytes);

  // From now on, or no longer.
  void set_apart(uint64_t version, bool apart);

  [[nodiscard]] size_t waiting() const { return waiting_; }
  [[nodiscard]] uint64_t committed() const { return committed_; }  // bytes
  // When it may be worth trying again, from how fast slots came free lately.
  [[nodiscard]] std::chrono::seconds retry_after(Time now) const;

 private:
  struct Session {
    uint64_t key = 0;
    std::list<Ticket> waiting = {};
    uint32_t running = 0;
    Worker worker = 0;  // where they run, if any does
  };
  using Sessions = std::list<Session>;
  struct Call {
    Wish wish;
    Sessions::iterator session;
    Worker worker = 0;  // 0: it waits
    uint32_t overtaken = 0;
  };
  struct WorkerState {
    uint32_t guests = 0;
    uint32_t running = 0;
    uint64_t widened = 0;   // bytes
    uint64_t forgiven = 0;  // of what it was granted for runs that have all ended: it is free, given back or not
    uint64_t version = 0;  // that it is kept for; 0: for all
    uint64_t trees = 0;    // that it can open; 0: all, so far
  };
  enum class Verdict : uint8_t { kStarts, kHeldUp, kNoMemory };

  [[nodiscard]] Verdict consider(const Call& call, Worker& where, std::optional<Worker>& instead_of);
  [[nodiscard]] std::optional<Worker> place_apart(const Call& call);
  [[nodiscard]] std::optional<Worker> place_shared(const Call& call);
  [[nodiscard]] static bool serves(const WorkerState& worker, const Wish& wish);
  [[nodiscard]] std::optional<Worker> least_loaded(const Wish& wish) const;
  [[nodiscard]] std::optional<Worker> idle_with_others_trees(const Wish& wish) const;
  [[nodiscard]] size_t count(bool apart) const;
  Worker add_worker(uint64_t version);
  void begin(Ticket ticket, Call& call, Worker where);
  void stop_waiting(Ticket ticket, const Call& call);
  std::optional<Worker> end(const Call& call, Time now);
  void forget_if_empty(Sessions::iterator session);
  [[nodiscard]] uint64_t left() const { return limits_.memory - std::min(limits_.memory, committed_); }
  [[nodiscard]] bool shared_room(const Wish& wish) const;

  Limits limits_;
  std::unordered_map<Ticket, Call> calls_;
  Sessions turns_;    // sessions of which calls wait, in the order of their turns
  Sessions running_;  // those of which none waits
  std::unordered_map<uint64_t, Sessions::iterator> by_key_;
  std::map<Worker, WorkerState> workers_;
  std::set<uint64_t> apart_;  // versions
  Ticket next_ticket_ = 1;
  Worker next_worker_ = 1;
  size_t waiting_ = 0;
  uint64_t waiting_bytes_ = 0;
  uint64_t committed_ = 0;
  std::optional<Time> last_end_;
  std::chrono::duration<double> between_ends_{0};  // lately, on average
};

}  // namespace subako::core
