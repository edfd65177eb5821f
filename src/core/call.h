// One call, or one upload check, as core asks for it and as it ended (spec: C, U).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/limits.h"
#include "core/package.h"
#include "core/session_volume.h"
#include "protocol/outcome.h"

namespace subako::core {

// The trees that a call may see, opened by its caller (spec: F1).
struct SkillTree {
  std::string name;
  Fd folder;
};
struct Trees {
  std::shared_ptr<SessionVolume> volume;  // owned by whoever has the session, and by its calls while they run
  std::vector<SkillTree> skills;          // in any order
};

struct CallRequest {
  const CheckedPackage* package = nullptr;
  std::string tool;
  std::string arguments;  // as protocol::check_arguments made them
  std::chrono::milliseconds timeout = limits::kDefaultTimeout;
  const Trees* trees = nullptr;
};

struct HttpExchange {
  std::string origin;
  uint32_t status = 0;  // 0: no answer came
  std::string error;    // a kind of H5
  double ms = 0;
};

// Whether the guest was refused something because the Volume was full (spec: F5): of its limit of bytes, or of entries.
enum class VolumeFull : uint8_t { kNo, kBytes, kEntries };

struct Measures {
  double queue_ms = 0;        // until a worker had a free slot
  double load_ms = 0;         // until that worker had the module
  double instantiate_ms = 0;  // as messages.proto's Measured
  double start_ms = 0;
  double run_ms = 0;
  double exit_ms = 0;
  double total_ms = 0;
  double cpu_ms = 0;
  uint64_t peak_memory_bytes = 0;
  uint64_t written_bytes = 0;
  std::optional<volume::Counts> volume;  // what the session's Volume held after the call; none where its worker died
  volume::Counts volume_most;            // what it may hold
  VolumeFull volume_full = VolumeFull::kNo;
  std::vector<HttpExchange> http;
};

struct CallRecord {
  protocol::Outcome outcome;
  std::string stderr_kept;       // C7: raw bytes
  uint64_t stderr_left_out = 0;  // bytes before those
  Measures measures;
  bool data_enabled = false;
};

struct UploadCheck {
  std::variant<CheckedPackage, Refused> verdict;
  Warnings warnings;
  Measures measures;
};

// The caller's hand on a call while it runs; it outlives the call. All on the loop's thread.
class CallWatch {
 public:
  CallWatch() = default;
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;
  virtual ~CallWatch() = default;

  // The call waits until the session's Volume has been counted.
  virtual void counting_volume() {}
  // The guest has been given to a worker.
  virtual void started() {}
  // Live stderr, raw, after a gap of `left_out` bytes. The reader says taken() when it has done with the
  // text: at most limits::kStderrInFlightBytes are on their way to a slow one. At the end of the call comes
  // what of the kept stderr hasn't come before (C7), at most limits::kStderrKeptBytes.
  virtual void stderr_arrived(uint64_t left_out, std::string_view text) = 0;

  void taken(uint32_t bytes) {
    if (on_taken_) on_taken_(bytes);
  }
  // C12. At any time, even before the call; asking twice is asking once.
  void cancel() {
    cancelled_ = true;
    if (on_cancel_) on_cancel_();
  }
  [[nodiscard]] bool cancelled() const { return cancelled_; }

 private:
  friend class CallWatchBinding;
  bool cancelled_ = false;
  std::function<void(uint32_t)> on_taken_;
  std::function<void()> on_cancel_;
};

}  // namespace subako::core
