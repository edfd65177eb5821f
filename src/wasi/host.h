// What one guest sees of the world through WASI preview 1: the host object of every function of imports()
// (spec: F, C2, C12). One for each run, used by one thread.
//
// It owns the guest's descriptors, its preopened trees and what it may still write; it borrows the clock, the
// standard streams and the way to other threads, which must outlive it. What it knows of a call that answered abi::Wait (wake(),
// progress) lasts until the same function is called again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "volume/ledger.h"
#include "volume/tree.h"
#include "volume/write_budget.h"
#include "wasi/blocking.h"
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
  bool task = false;              // its task to be done (blocking.h)
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
  uint64_t done = 0;    // bytes; of path_open the number it has given
  uint64_t cookie = 0;  // of fd_readdir
  bool begun = false;
  Nanoseconds began_monotonic = 0;  // of poll_oneoff
  Nanoseconds began_realtime = 0;
};

// What a guest is given.
struct World {
  std::vector<std::string> arguments = {};
  std::vector<Preopen> preopens = {};        // they get the descriptors from 3, in their order
  uint64_t write_budget = limits::kWrittenBytes;
  volume::Ledger* ledger = nullptr;           // of the Volume, which all writable preopens belong to; it outlives the Host. Null: not counted
  size_t descriptors = limits::kDescriptors;  // open at once; each may take one of the process's own
  std::vector<std::string> environment = {};  // "NAME=value": none in the product (C2), but the standard's own tests want one
};

class Host {
 public:
  Host(World world, const Clock& clock, Stdio& stdio, Blocking& blocking);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // The guest has gone: gives up what it waits for and closes what it has open, elsewhere where that may take long. False where a thread is still
  // at work for it: to be asked again when that is done. A Host that is destroyed meanwhile leaves its descriptors to the
  // thread, and what that does to a file's size isn't counted (F5).
  bool leave();

  // Gives the preopen of that index (from 0) its tree, once. Functions that waited for it can go on.
  void bind(size_t preopen, Fd directory);

  [[nodiscard]] const Wake& wake() const { return wake_; }
  [[nodiscard]] volume::WriteBudget& budget() {
    return budget_;
  }  // an HTTP answer saved to a file counts too (F4)
  // How full the Volume was found, if it was (spec: F5).
  enum class Full : uint8_t { kNo, kBytes, kEntries };
  [[nodiscard]] Full volume_full() const { return volume_full_; }
  [[nodiscard]] std::span<const Root> roots() const { return roots_; }

  // The rest is for the functions.
  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }
  [[nodiscard]] const std::vector<std::string>& environment() const { return environment_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Stdio& stdio() { return stdio_; }
  [[nodiscard]] Descriptors& descriptors() { return descriptors_; }

  // How many of `wanted` bytes, at least one, may be written at `offset` of a file of `size` bytes; kDquot where the call has written
  // enough (F4), kNoSpc where the Volume is full (F5).
  [[nodiscard]] Try<uint64_t> may_write(uint64_t offset, uint64_t size, uint64_t wanted);
  // Likewise, whether such a file may become `new_size`.
  [[nodiscard]] Reply may_resize(uint64_t size, uint64_t new_size);
  [[nodiscard]] volume::Ledger* ledger() { return ledger_; }
  [[nodiscard]] volume::Room room() const { return ledger_ != nullptr ? ledger_->room() : volume::Room::kYes; }
  // An entry has been made, or hasn't, which is noted where it was for want of room.
  void made();
  [[nodiscard]] Refused not_made(std::errc why);

  // The descriptor, if it is open and has `rights`. A missing right to read or write is kBadf, as on Linux;
  // another one kNotCapable.
  [[nodiscard]] Try<Descriptor*> descriptor(FdNumber fd, Rights rights);
  // As descriptor(), but a stream is `stream` and a directory kBadf, whatever their rights.
  [[nodiscard]] Try<File*> file(FdNumber fd, Rights rights, Errno stream = Errno::kBadf);

  // Remembers what a function waits for and where it is: `return refuse(host.wait(...))`.
  [[nodiscard]] Refused wait(const Wake& wake, const Progress& progress = {});
  // Work that stands still in the kernel. The function is called again until it is done, must not do twice what it did before,
  // and writes nothing into the guest's memory before it is: there it may write over its own arguments.
  //   if (!host.at_work()) { ...; host.begin_work(...); }
  //   TRY(const Progress progress, host.finish_work());
  [[nodiscard]] bool at_work() const { return task_ != nullptr; }
  void begin_work(BlockingTask::Work work, const Progress& progress = {});
  [[nodiscard]] Try<Progress> finish_work();
  // Waits until a file that is slow to close (or to free: volume::Removed) is closed; there is none where it is invalid.
  [[nodiscard]] Reply close(Fd file);
  // Where the function is that waits.
  [[nodiscard]] const Progress& progress() const { return progress_; }
  // Where the function was when it waited; forgotten by this, so that a call that is complete leaves nothing
  // behind.
  [[nodiscard]] Progress take_progress() { return std::exchange(progress_, {}); }

 private:
  const std::vector<std::string> arguments_;
  const std::vector<std::string> environment_;
  const Clock& clock_;
  Stdio& stdio_;
  Blocking& blocking_;
  std::vector<Root> roots_;  // never grows: descriptors point into it
  Descriptors descriptors_;
  volume::WriteBudget budget_;
  volume::Ledger* const ledger_;
  Full volume_full_ = Full::kNo;
  Wake wake_;
  Progress progress_;
  std::shared_ptr<BlockingTask> task_;  // shared with the thread that does it
};

}  // namespace subako::wasi
