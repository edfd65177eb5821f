// What the guests of a worker hold, counted against what core has granted (spec: L2, P8): linear memories, tables, and what the host
// holds for them. A run has what its StartRun said; what it holds beyond that comes from an allowance that all runs share,
// which core widens when asked and gets back when it isn't used. No process and no clock in here.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "base/limits.h"

namespace subako::worker {

class MemoryMeter {
 public:
  // `ask` is a MemoryWanted: it is answered by allow(), and there is one at a time. `give_back` is a MemoryReturned.
  MemoryMeter(std::function<void(uint64_t least, uint64_t bytes)> ask, std::function<void(uint64_t bytes)> give_back)
      : ask_(std::move(ask)), give_back_(std::move(give_back)) {}

  // One run's, which it outlives not. A meter outlives its accounts.
  class Account {
   public:
    Account(MemoryMeter& meter, uint64_t run, uint64_t granted) : meter_(meter), run_(run), granted_(granted) {}
    ~Account() { meter_.close(*this); }
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

    enum class Answer : uint8_t { kNo, kYes, kLater };
    // May its guest have `bytes` more? Later: core is asked; ask again, for the same, once allow() has named the run.
    [[nodiscard]] Answer grow(uint64_t bytes) { return meter_.grow(*this, bytes); }
    // The host holds so much for it now: a fact, not a question.
    void host_holds(uint64_t bytes) { meter_.host_holds(*this, bytes); }

    [[nodiscard]] uint64_t peak() const { return peak_; }
    [[nodiscard]] bool refused() const { return refused_; }  // a growth, as the node had no memory left

   private:
    friend class MemoryMeter;
    [[nodiscard]] uint64_t held() const { return guest_ + host_; }
    [[nodiscard]] uint64_t beyond() const { return held() > granted_ ? held() - granted_ : 0; }

    MemoryMeter& meter_;
    const uint64_t run_;
    const uint64_t granted_;
    uint64_t guest_ = 0;
    uint64_t host_ = limits::kGuestHostBytes;
    uint64_t peak_ = limits::kGuestHostBytes;
    std::optional<bool> answered_;  // core's word on the growth that waits
    bool refused_ = false;
  };

  // Core has granted so much more, 0 for no more. The run whose growth waited for it, which has an answer now; 0: it has gone.
  [[nodiscard]] uint64_t allow(uint64_t bytes);

  [[nodiscard]] uint64_t allowance() const { return allowance_; }
  [[nodiscard]] uint64_t used() const { return used_; }  // of it

 private:
  struct Waiting {
    Account* account;
    uint64_t bytes;
  };
  [[nodiscard]] Account::Answer grow(Account& account, uint64_t bytes);
  void host_holds(Account& account, uint64_t bytes);
  void close(Account& account);
  void set(Account& account, uint64_t& part, uint64_t bytes);
  [[nodiscard]] uint64_t lacking(const Account& account, uint64_t bytes) const;
  void ask_next();
  void ask(uint64_t lacking);
  void return_unused();

  std::function<void(uint64_t, uint64_t)> ask_;
  std::function<void(uint64_t)> give_back_;
  uint64_t allowance_ = 0;
  uint64_t used_ = 0;  // what runs hold beyond their grants; past the allowance only by what the host holds
  std::deque<Waiting> waiting_;  // the first one is asked for, where asked_
  bool asked_ = false;
};

}  // namespace subako::worker
