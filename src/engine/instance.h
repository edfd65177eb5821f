// One fresh instance of a module on a fiber of its own (spec: C1, L2): instantiate, run _start, stand still wherever a host
// function waits, be ended anywhere. Used by the worker's one thread; deleting it ends the guest at once, wherever it stands.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/engine.h"
#include "engine/linked_module.h"

namespace subako::engine {

struct Returned {};  // from _start
struct Exited {
  uint32_t code = 0;
};
struct Halted {};  // a host function answered abi::Halt
struct Trapped {
  std::string message;
  std::vector<std::string> backtrace;  // innermost first
};
struct Interrupted {
  std::vector<std::string> backtrace;  // where it stood
};
struct NotStarted {
  std::string message;  // the instance couldn't be made, and not because its start section trapped
};
using Finish = std::variant<Returned, Exited, Halted, Trapped, Interrupted, NotStarted>;

// Asked before each growth of a memory or table that L2 allows, the first of an instance included.
class Growth {
 public:
  virtual ~Growth() = default;
  enum class Answer : uint8_t { kNo, kYes, kLater };
  // Later: the guest stands still (State::kGrowing), and its next resume asks again, for the same.
  [[nodiscard]] virtual Answer may_grow(uint64_t bytes) noexcept = 0;
};

class Instance {
 public:
  // `hosts`: one object for each table that the module was linked with; they outlive the instance, as `growth` does, which may be null.
  Instance(const Engine& engine, std::shared_ptr<const LinkedModule> module, std::vector<void*> hosts,
           Growth* growth = nullptr);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  enum class State : uint8_t {
    kStarted,   // the instance is there, once: resume it to run _start
    kYielded,   // its slice is over: resume it after the others
    kGrowing,   // Growth has said Later: resume it when that may have changed
    kWaiting,   // a host function answered abi::Wait: resume it when that may have changed
    kFinished,  // see finish(); don't resume it
  };
  [[nodiscard]] State resume();

  // Of an instance that waits: which of its hosts it waits for.
  [[nodiscard]] size_t waits_for() const;

  // The next resume ends the guest where it stands, with a backtrace.
  void interrupt();

  [[nodiscard]] const Finish& finish() const;
  [[nodiscard]] bool started() const;             // the instance is there: _start is running
  [[nodiscard]] uint64_t memory_bytes() const;    // linear memory now, which is its peak too: it never shrinks
  [[nodiscard]] bool growth_refused() const;      // L2 refused a growth of a memory or a table

 private:
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace subako::engine
