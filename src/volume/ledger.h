// How full a session's Volume is (spec: F5), kept by the one worker that runs the session's calls and shared by all of them; used by
// one thread. Nothing here walks a directory or asks the kernel anything: each operation costs the same in a Volume of a million
// files.
//
// Bytes are asked for before an operation and settled after it. While a file is open what is counted of it is remembered, and each
// settle() corrects that by the file's size as it is by then: two who write to it, or a thread that cuts it in steps,
// need not know of each other. A file without a name is given back when nobody has it open any more. A file that nobody has open is counted
// by its size, so it must not be changed but through here.
//
// A Volume that holds more than it may (people put files there, an operator lowers the limit) is just full.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/fd.h"
#include "volume/counts.h"

namespace subako::volume {

class Ledger {
 public:
  explicit Ledger(Counts now = {}, Counts most = kMostCounts) : now_(now), most_(most) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  [[nodiscard]] const Counts& counts() const { return now_; }
  [[nodiscard]] const Counts& most() const { return most_; }

  // How many of `wanted` bytes may be written at `offset` of a file that is `size` bytes long: what lies within it always may.
  [[nodiscard]] uint64_t allowed(uint64_t offset, uint64_t size, uint64_t wanted) const;
  // May a file of `size` bytes become `new_size`? Shrinking always may.
  [[nodiscard]] bool allows_size(uint64_t size, uint64_t new_size) const;

  [[nodiscard]] Room room() const { return now_.entries < most_.entries ? Room::kYes : Room::kNone; }
  void made() { ++now_.entries; }
  // An entry of what is no regular file.
  void removed();
  // A name of what was `was` before it went.
  void removed(const struct stat& was);

 private:
  friend class CountedFile;
  struct Inode {
    uint64_t device;
    uint64_t number;
    friend bool operator==(const Inode&, const Inode&) = default;
  };
  struct Hash {
    size_t operator()(const Inode& inode) const { return inode.number ^ (inode.device << 32U); }
  };
  struct Open {
    uint64_t counted = 0;   // of its bytes
    uint64_t openings = 0;  // how often it is open
    bool named = true;
  };
  using Table = std::unordered_map<Inode, Open, Hash>;

  [[nodiscard]] uint64_t left() const { return most_.bytes > now_.bytes ? most_.bytes - now_.bytes : 0; }
  [[nodiscard]] Table::value_type& open(const struct stat& found);
  void settle(Open& file, uint64_t size);
  void close(Table::value_type& file);
  void give_back(uint64_t bytes);

  Counts now_;
  Counts most_;
  Table open_;
  Table::node_type spare_;  // of the last that was closed: most files come and go alone
};

// A file that is open, and counted as such in the ledger of its Volume; one of a tree that isn't counted has none.
class CountedFile {
 public:
  explicit CountedFile(Fd fd) : fd_(std::move(fd)) {}
  // `found`: what it is as it was opened. The ledger outlives this, or uncount() comes first.
  CountedFile(Fd fd, Ledger& ledger, const struct stat& found)
      : fd_(std::move(fd)), ledger_(&ledger), entry_(&ledger.open(found)) {}
  CountedFile(CountedFile&& other) noexcept
      : fd_(std::move(other.fd_)), ledger_(std::exchange(other.ledger_, nullptr)), entry_(other.entry_) {}
  CountedFile& operator=(CountedFile&&) = delete;
  ~CountedFile();

  [[nodiscard]] int get() const { return fd_.get(); }
  // The file is `size` bytes long now.
  void settle(uint64_t size) {
    if (ledger_ != nullptr) ledger_->settle(entry_->second, size);
  }
  // It is about to be closed, maybe by another thread, and this is its size: the ledger forgets it.
  void uncount(uint64_t size);
  // After uncount().
  [[nodiscard]] Fd take() && { return std::move(fd_); }

 private:
  Fd fd_;
  Ledger* ledger_ = nullptr;
  Ledger::Table::value_type* entry_ = nullptr;
};

}  // namespace subako::volume
