// One run of a guest, a call or an upload check: its life on the worker's side, from StartRun to Ended. take_turn() reads
// from top to bottom; everything else serves it.
//
// Owned and used by the worker's one thread. It is the guest's stdin, stdout and stderr, keeps its deadlines, and turns what
// was observed into an outcome.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "child/messages.pb.h"
#include "engine/instance.h"
#include "guest_http/backend.h"
#include "guest_http/host.h"
#include "protocol/conversation.h"
#include "wasi/host.h"
#include "worker/blocking_threads.h"
#include "worker/cpu_clock.h"
#include "worker/memory_meter.h"
#include "worker/stderr_log.h"

namespace subako::worker {

// What the runs of a worker share, and what outlives them.
struct Surroundings {
  const engine::Engine& engine;
  const Clock& clock;
  CpuClock& cpu;
  Ids& ids;
  BlockingThreads& blocking;
  size_t descriptors;  // the kernel's, that each run may take (spec: F6)
  MemoryMeter& memory;
};

class Run final : public wasi::Stdio, public wasi::Blocking, public engine::Growth {
 public:
  // `trees`: a descriptor for each preopen of `start` that has one, in their order. `ledger`: of the session's Volume, owned by the worker and by
  // all runs of that session; none where there is no Volume.
  Run(const child::StartRun& start, std::vector<Fd> trees, std::shared_ptr<const engine::LinkedModule> module,
      const Surroundings& around, std::shared_ptr<volume::Ledger> ledger = nullptr);

  // What a module must be linked with to be run here.
  [[nodiscard]] static engine::ImportTables import_tables();

  enum class Turn : uint8_t {
    kAgain,  // it could go on at once: others first
    kWaits,  // nothing to do before due(), its task is done, its growth is answered, or core sends something
    kEnded,  // take_ended()
  };
  // Runs the guest until it gives the turn back. Ends it where its deadline has passed.
  [[nodiscard]] Turn take_turn();
  // Of a run that waits: when to take the next turn, monotonic.
  [[nodiscard]] Nanoseconds due() const { return due_; }
  // Ends it at once, wherever it stands (spec: C12).
  void cancel();

  // Of a run that has ended: whether it has let go of its files. Where a thread is still at work for it, it is kept, and asked again when
  // the task is done: until then its Volume isn't counted to the last byte (spec: F5).
  [[nodiscard]] bool leave() { return wasi_.leave(); }

  [[nodiscard]] uint64_t id() const { return id_; }
  [[nodiscard]] std::optional<uint64_t> volume() const { return volume_; }
  [[nodiscard]] StderrLog& log() { return log_; }
  [[nodiscard]] child::Ended take_ended() { return std::move(ended_); }

  // wasi::Stdio
  size_t read_stdin(std::span<std::byte> to) override;
  [[nodiscard]] size_t stdin_available() const override;
  [[nodiscard]] bool stdin_closed() const override;
  bool write_stdout(std::span<const std::byte> bytes) override;
  void write_stderr(std::span<const std::byte> bytes) override;

  // wasi::Blocking
  void hand_over(std::shared_ptr<wasi::BlockingTask> task) override;

  // engine::Growth
  [[nodiscard]] Answer may_grow(uint64_t bytes) noexcept override;

 private:
  struct Marks {  // monotonic; 0: not reached
    Nanoseconds started = 0;
    Nanoseconds instantiated = 0;
    Nanoseconds asked = 0;  // the first look at stdin
    Nanoseconds answered = 0;
    Nanoseconds ended = 0;
  };

  [[nodiscard]] std::vector<void*> hosts();
  void note_answered();
  void note_held();
  void end(protocol::Ending ending);
  [[nodiscard]] protocol::Ending ending_of(const engine::Finish& finish);
  void fill_outcome(const protocol::Outcome& outcome);
  template <class Message>
  void add_findings(Message& message) const;
  void fill_measured();

  uint64_t id_;
  std::optional<uint64_t> volume_;
  bool upload_;
  std::chrono::milliseconds time_limit_;
  const Clock& clock_;
  CpuClock& cpu_;
  BlockingThreads& blocking_;
  protocol::Conversation conversation_;
  MemoryMeter::Account memory_;
  uint64_t stdout_written_ = 0;
  size_t stdin_read_ = 0;  // bytes of conversation_.input() that the guest has taken
  StderrLog log_;
  guest_http::DenyAll http_backend_;
  std::shared_ptr<volume::Ledger> ledger_;  // outlives wasi_
  wasi::Host wasi_;
  guest_http::Host http_;
  std::unique_ptr<engine::Instance> instance_;  // last: it goes first, and it uses the hosts

  Nanoseconds deadline_ = 0;
  Nanoseconds due_ = 0;
  Nanoseconds cpu_ns_ = 0;
  uint64_t peak_memory_ = 0;
  Marks marks_;
  child::Ended ended_;
};

}  // namespace subako::worker
