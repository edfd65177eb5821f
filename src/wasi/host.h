// What one guest sees of the world through WASI preview 1: the host object of every function of imports()
// (spec: F, C2, C12). One for each run, used by one thread.
//
// It owns the guest's descriptors, its preopened trees and what it may still write; it borrows the clock and
// the standard streams, which must outlive it. What it knows of a call that answered abi::Wait (wake(),
// progress) lasts until the same function is called again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "volume/tree.h"
#include "volume/write_budget.h"
#include "wasi/descriptors.h"
#include "wasi/reply.h"
#include "wasi/types.h"

namespace subako::wasi {

// The standard streams, as whoever runs the guest wants them.
class Stdio {
 public:
  virtual ~Stdio() = default;
  virtual size_t read_stdin(std::span<std::byte> to) = 0;  // 0: nothing now (see stdin_closed)
  [[nodiscard]] virtual size_t stdin_available() const = 0;
  [[nodiscard]] virtual bool stdin_closed() const = 0;  // end of file comes after what is available
  [[nodiscard]] virtual bool write_stdout(
      std::span<const std::byte> bytes) = 0;  // false: the run ends now (abi::Halt)
  virtual void write_stderr(std::span<const std::byte> bytes) = 0;
};

// What a function that answered abi::Wait waits for, whatever comes first. None of them: only for a tree
// (bind).
struct Wake {
  std::optional<Nanoseconds> at;  // of the monotonic clock
  bool stdin = false;             // input, or end of file, on stdin
  bool now = false;               // it only gives others a turn: long work is done in pieces
};

// A directory that the guest finds open (spec: F1). Its tree may be bound later. One without a tree is
// virtual: it has no files, and its entries are the preopens right beneath its path ("/skills" and
// "/skills/a").
struct Preopen {
  std::string path;
  bool writable = false;
  bool has_tree = true;
};

// What a function that waits remembers for its next turn.
struct Progress {
  uint64_t done = 0;    // bytes
  uint64_t cookie = 0;  // of fd_readdir
  bool begun = false;
  Nanoseconds began_monotonic = 0;  // of poll_oneoff
  Nanoseconds began_realtime = 0;
};

class Host {
 public:
  // Preopens get the descriptors from 3, in their order. The product's guests have no environment (C2); the
  // standard's own tests want one ("NAME=value").
  Host(std::vector<std::string> arguments, const Clock& clock, Stdio& stdio, std::vector<Preopen> preopens,
       uint64_t write_budget = limits::kWrittenBytes, std::vector<std::string> environment = {});
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Gives the preopen of that index (from 0) its tree, once. Functions that waited for it can go on.
  void bind(size_t preopen, Fd directory);

  [[nodiscard]] const Wake& wake() const { return wake_; }
  [[nodiscard]] volume::WriteBudget& budget() {
    return budget_;
  }  // an HTTP answer saved to a file counts too (F4)
  [[nodiscard]] std::span<const Root> roots() const { return roots_; }

  // The rest is for the functions.
  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }
  [[nodiscard]] const std::vector<std::string>& environment() const { return environment_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Stdio& stdio() { return stdio_; }
  [[nodiscard]] Descriptors& descriptors() { return descriptors_; }

  // The descriptor, if it is open and has `rights`. A missing right to read or write is kBadf, as on Linux;
  // another one kNotCapable.
  [[nodiscard]] Try<Descriptor*> descriptor(FdNumber fd, Rights rights);
  // As descriptor(), but a stream is `stream` and a directory kBadf, whatever their rights.
  [[nodiscard]] Try<File*> file(FdNumber fd, Rights rights, Errno stream = Errno::kBadf);

  // Remembers what a function waits for and where it is: `return refuse(host.wait(...))`.
  [[nodiscard]] Refused wait(const Wake& wake, const Progress& progress = {});
  // Where the function was when it waited; forgotten by this, so that a call that is complete leaves nothing
  // behind.
  [[nodiscard]] Progress take_progress() { return std::exchange(progress_, {}); }

 private:
  const std::vector<std::string> arguments_;
  const std::vector<std::string> environment_;
  const Clock& clock_;
  Stdio& stdio_;
  std::vector<Root> roots_;  // never grows: descriptors point into it
  Descriptors descriptors_;
  volume::WriteBudget budget_;
  Wake wake_;
  Progress progress_;
};

}  // namespace subako::wasi
