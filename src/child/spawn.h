// Starts a child executable and owns the process until it has been reaped (design: a child gets only the descriptors
// it was handed; spec: M6 for the limits of a builder).
//
// - The child finds /dev/null on 0 and 1, a pipe to us on 2, a Unix stream socket to us on 3, and nothing else. Our own stderr would be a
//   terminal to read from, a log to cut. What it says on 2 is looked at once it has ended; a full pipe holds nobody up, as neither end
//   blocks. A sanitizer build keeps our stderr, for its reports.
// - It has no environment, working directory /, a session of its own (a terminal's Ctrl-C reaches only us), no new
//   privileges, no core dumps.
// - It is killed when the *thread* that started it ends: start children from a thread that stays.
// - In a cell of namespaces it is the first process of its own; it shuts itself in (child/enter_sandbox.h) as its last
//   arguments say.
// - Safe in a process with threads: before exec the child makes only async-signal-safe calls, in the memory of this
//   process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "child/enter_sandbox.h"

namespace subako::child {

// What a child exits with when it knows that it ran out of memory (limits::kBuilderMemoryBytes), to be told
// from a crash.
inline constexpr int kExitOutOfMemory = 77;
// And where it could not shut itself in (child/enter_sandbox.h), and so has done nothing.
inline constexpr int kExitNotShutIn = 78;
// With this and the signal's number where a signal that it sends itself can't end it: the first process of a namespace.
inline constexpr int kExitBySignal = 128;

// Of what a child has said on stderr.
inline constexpr size_t kSaidBytes = 4096;

struct SpawnOptions {
  std::string executable;
  std::vector<std::string> arguments;  // after argv[0]
  std::optional<std::chrono::seconds> cpu_limit;
  std::optional<uint64_t> memory_limit;     // bytes of address space
  std::optional<uint64_t> file_limit = {};  // bytes of each file that it writes, memory files included
  Cell cell = {};                           // told it after its arguments, unless there is none
};

struct ExitStatus {
  bool known = true;  // false: somebody else has reaped it, and the rest says nothing
  int code = 0;       // where it exited
  int signal = 0;     // where a signal ended it; else 0
  std::chrono::milliseconds cpu{};
  uint64_t peak_resident_bytes = 0;
  std::string said = {};  // the first kSaidBytes of its stderr: a stranger's text
};

// Did it end for a limit that it was started with? Where it ignores SIGXCPU, the kernel kills it a second later. Where memory
// can't be had it says so or aborts; so does a bug, but with little memory in use.
[[nodiscard]] bool over_cpu(const ExitStatus& status, std::chrono::seconds limit);
[[nodiscard]] bool over_memory(const ExitStatus& status, uint64_t limit);

// Completes "the worker ": "exited with status 3", "was killed by signal 11 (Segmentation fault)", "passed
// its limit of CPU time"; and what it said, shortened and escaped: `exited with status 4; it said "..."`. Nothing may follow but the end of the
// sentence.
[[nodiscard]] std::string exit_sentence(const ExitStatus& status);

class Child {
 public:
  // `says`: our end of its stderr, which doesn't block; none in a sanitizer build.
  Child(pid_t pid, Fd pidfd, Fd socket, Fd says)
      : pid_(pid), pidfd_(std::move(pidfd)), socket_(std::move(socket)), says_(std::move(says)) {}
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  // Kills (SIGKILL) and reaps.
  ~Child();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }  // readable once the process has ended
  [[nodiscard]] int socket() const { return socket_.get(); }
  void kill();  // SIGKILL; no effect on one that has ended
  // None while it runs. Reaps; the same status is given again afterwards.
  [[nodiscard]] std::optional<ExitStatus> poll_exit();
  // Waits until it ends; call kill() first, or know that it will.
  ExitStatus wait_exit();

 private:
  std::optional<ExitStatus> reap(int flags);

  pid_t pid_ = -1;
  Fd pidfd_;
  Fd socket_;
  Fd says_;
  std::optional<ExitStatus> exit_;
};

[[nodiscard]] Result<Child> spawn(const SpawnOptions& options);

}  // namespace subako::child
