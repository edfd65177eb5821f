// The Volume of a session (spec: F1, F5, F6): its trees, and what they hold. The calls of a session share it, and run in one worker at a time,
// whose ledger counts; here is what that worker said last.
//
// Where that is worth nothing (the folder was there before, the worker has died) it has to be counted before the next call, which
// Node does. All on the loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "child/sandbox.h"
#include "volume/counts.h"

namespace subako::core {

class WorkerLink;

class SessionVolume {
 public:
  struct Folders {
    Fd root = {};  // with data: what both lie in, so that renames between them work (F2)
    Fd tmp = {};   // /volume/tmp
    Fd data = {};  // /volume/data, where enabled
  };
  enum class Holds : bool { kNothing, kUnknown };  // before its first call

  // tmp/ and, where enabled, data/ in `root`, made where they are missing, as a worker is handed them: the one place that opens a Volume's
  // trees. With data a worker that was taken over reaches all of `root`, which is to hold nothing else; without, tmp/ alone. `name` is what
  // people call the folder; `sandbox` may be null.
  [[nodiscard]] static Result<Folders> open(const Fd& root, bool data, const std::string& name, child::Sandbox* sandbox);

  // `number`: of the session, and no other Volume's of the same Node.
  SessionVolume(uint64_t number, Folders folders, Holds holds) : number_(number), folders_(std::move(folders)) {
    if (holds == Holds::kNothing) counts_.emplace();
  }
  SessionVolume(const SessionVolume&) = delete;
  SessionVolume& operator=(const SessionVolume&) = delete;

  [[nodiscard]] uint64_t number() const { return number_; }
  [[nodiscard]] const Fd& tmp() const { return folders_.tmp; }
  [[nodiscard]] const Fd& data() const { return folders_.data; }
  // None: it must be counted.
  [[nodiscard]] std::optional<volume::Counts> counts() const;

  // The rest is for the Node.
  void counted(volume::Counts counts);
  // By its worker: hostile, so nothing beyond what there can be is believed.
  void told(volume::Counts counts);
  // A run of it has ended and may still change it for a moment; or does so no longer.
  void leaves() { ++leaving_; }
  void left() { leaving_ -= leaving_ > 0 ? 1 : 0; }
  // May another than `worker` still change it? Then it can't move there yet.
  [[nodiscard]] bool stays_elsewhere(const WorkerLink& worker) const;
  // Its worker, which has no run of it, is ended as nobody needs it: what it said last holds, unless a run was still leaving.
  void let_go();
  // The worker that has its ledger; null where none has, or that has died.
  [[nodiscard]] std::shared_ptr<WorkerLink> holder() const;
  [[nodiscard]] std::shared_ptr<WorkerLink> last_holder() const { return holder_ ? holder_->lock() : nullptr; }
  void give_to(const std::shared_ptr<WorkerLink>& worker);
  bool counting = false;  // somebody does

 private:
  uint64_t number_;
  Folders folders_;
  std::optional<volume::Counts> counts_;
  uint32_t leaving_ = 0;
  std::optional<std::weak_ptr<WorkerLink>> holder_;
};

}  // namespace subako::core
