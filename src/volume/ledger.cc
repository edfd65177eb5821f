#include "volume/ledger.h"

#include <algorithm>

namespace subako::volume {

uint64_t Ledger::allowed(uint64_t offset, uint64_t size, uint64_t wanted) const {
  const uint64_t longest = size + left();
  return offset >= longest ? 0 : std::min(wanted, longest - offset);
}

bool Ledger::allows_size(uint64_t size, uint64_t new_size) const {
  return new_size <= size || new_size - size <= left();
}

// Not below nothing: people may have changed the trees meanwhile. Likewise give_back().
void Ledger::removed() {
  if (now_.entries > 0) --now_.entries;
}

void Ledger::removed(const struct stat& was) {
  removed();
  if (!S_ISREG(was.st_mode) || was.st_nlink > 1) return;
  const auto file = open_.find({was.st_dev, was.st_ino});
  if (file == open_.end()) return give_back(static_cast<uint64_t>(was.st_size));
  file->second.named = false;
}

Ledger::Table::value_type& Ledger::open(const struct stat& found) {
  const Inode inode{found.st_dev, found.st_ino};
  const auto size = static_cast<uint64_t>(found.st_size);
  Table::iterator file;
  if (spare_.empty()) {
    file = open_.try_emplace(inode, Open{.counted = size}).first;
  } else {
    spare_.key() = inode;
    spare_.mapped() = Open{.counted = size};
    auto inserted = open_.insert(std::move(spare_));
    file = inserted.position;
    spare_ = std::move(inserted.node);  // where it was open already
  }
  settle(file->second, size);
  ++file->second.openings;
  return *file;
}

void Ledger::settle(Open& file, uint64_t size) {
  if (size < file.counted) {
    give_back(file.counted - size);
  } else {
    now_.bytes += size - file.counted;
  }
  file.counted = size;
}

void Ledger::close(Table::value_type& file) {
  if (--file.second.openings > 0) return;
  if (!file.second.named) give_back(file.second.counted);
  spare_ = open_.extract(file.first);
}

void Ledger::give_back(uint64_t bytes) { now_.bytes -= std::min(bytes, now_.bytes); }

CountedFile::~CountedFile() {
  if (ledger_ == nullptr) return;
  struct stat now{};
  uncount(::fstat(fd_.get(), &now) == 0 ? static_cast<uint64_t>(now.st_size) : entry_->second.counted);
}

void CountedFile::uncount(uint64_t size) {
  if (ledger_ == nullptr) return;
  settle(size);
  std::exchange(ledger_, nullptr)->close(*entry_);
}

}  // namespace subako::volume
