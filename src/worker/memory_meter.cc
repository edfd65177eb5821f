#include "worker/memory_meter.h"

#include <algorithm>

namespace subako::worker {

MemoryMeter::Account::Answer MemoryMeter::grow(Account& account, uint64_t bytes) {
  if (lacking(account, bytes) == 0) {
    account.answered_.reset();
    set(account, account.guest_, account.guest_ + bytes);
    return Account::Answer::kYes;
  }
  if (account.answered_ == false) {
    account.answered_.reset();
    account.refused_ = true;
    return Account::Answer::kNo;
  }
  account.answered_.reset();  // others have taken meanwhile what core had granted for it: it asks anew
  if (std::ranges::find(waiting_, &account, &Waiting::account) == waiting_.end()) waiting_.push_back({&account, bytes});
  ask_next();
  return Account::Answer::kLater;
}

uint64_t MemoryMeter::lacking(const Account& account, uint64_t bytes) const {
  const uint64_t held = account.held() + bytes;
  const uint64_t beyond = held > account.granted_ ? held - account.granted_ : 0;
  if (beyond == account.beyond()) return 0;  // within its grant, whatever others owe
  const uint64_t used = used_ - account.beyond() + beyond;
  return used > allowance_ ? used - allowance_ : 0;
}

void MemoryMeter::ask_next() {
  if (!asked_ && !waiting_.empty()) ask(lacking(*waiting_.front().account, waiting_.front().bytes));
}

void MemoryMeter::ask(uint64_t lacking) {
  const uint64_t least = std::max<uint64_t>(1, lacking);
  asked_ = true;
  ask_(least, least + limits::kMemoryGrantBytes);
}

uint64_t MemoryMeter::allow(uint64_t bytes) {
  asked_ = false;
  allowance_ += bytes;
  uint64_t run = 0;
  if (!waiting_.empty() && waiting_.front().account != nullptr) {
    waiting_.front().account->answered_ = bytes > 0;
    run = waiting_.front().account->run_;
  }
  if (!waiting_.empty()) waiting_.pop_front();
  if (run == 0) return_unused();
  ask_next();
  return run;
}

void MemoryMeter::host_holds(Account& account, uint64_t bytes) {
  const uint64_t before = used_;
  set(account, account.host_, std::max(bytes, limits::kGuestHostBytes));
  if (!asked_ && used_ > before && used_ > allowance_) ask(used_ - allowance_);
}

void MemoryMeter::set(Account& account, uint64_t& part, uint64_t bytes) {
  used_ -= account.beyond();
  part = bytes;
  used_ += account.beyond();
  account.peak_ = std::max(account.peak_, account.held());
}

void MemoryMeter::close(Account& account) {
  used_ -= account.beyond();
  // The answer to what is asked comes all the same, and has to find its place.
  const auto waits = std::ranges::find(waiting_, &account, &Waiting::account);
  if (waits == waiting_.begin() && asked_) {
    if (waits != waiting_.end()) waits->account = nullptr;
  } else if (waits != waiting_.end()) {
    waiting_.erase(waits);
  }
  return_unused();
}

// All but a little for the next one, so that runs which grow and end don't ask each time.
void MemoryMeter::return_unused() {
  const uint64_t wanted = used_ == 0 ? 0 : used_ + limits::kMemoryGrantBytes;
  if (asked_ || allowance_ <= wanted) return;
  give_back_(allowance_ - wanted);
  allowance_ = wanted;
}

}  // namespace subako::worker
