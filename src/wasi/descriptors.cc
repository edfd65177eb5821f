#include "wasi/descriptors.h"

#include <sys/stat.h>

#include "base/result.h"

namespace subako::wasi {

Descriptor* Descriptors::find(FdNumber fd) {
  const auto index = static_cast<size_t>(fd);
  return index < table_.size() && table_[index] ? &*table_[index] : nullptr;
}

Try<FdNumber> Descriptors::lowest_free() const {
  size_t index = 0;
  while (index < table_.size() && table_[index]) ++index;
  if (index >= most_) return refuse(Errno::kMfile);
  return static_cast<FdNumber>(index);
}

void Descriptors::put(FdNumber fd, Descriptor descriptor) {
  const auto index = static_cast<size_t>(fd);
  if (index >= table_.size()) table_.resize(index + 1);
  table_[index].emplace(std::move(descriptor));
}

Try<Descriptor> Descriptors::take(FdNumber fd) {
  if (find(fd) == nullptr) return refuse(Errno::kBadf);
  return *std::exchange(table_[static_cast<size_t>(fd)], std::nullopt);
}

Try<std::optional<Descriptor>> Descriptors::renumber(FdNumber from, FdNumber to) {
  if (find(from) == nullptr || find(to) == nullptr) return refuse(Errno::kBadf);
  if (from == to) return std::nullopt;
  TRY(Descriptor taken, take(to));
  TRY(table_[static_cast<size_t>(to)], take(from));
  return taken;
}

namespace {

// What there may be to do when it is closed.
uint64_t size_of(const File& file) {
  if (!file.root->writable) return 0;  // nobody writes there, or takes a name away
  struct stat now{};
  return ::fstat(file.fd.get(), &now) == 0 ? volume::freed_bytes(now) : 0;
}

}  // namespace

bool Descriptors::are_slow_to_close() {
  uint64_t bytes = 0;
  for (auto& descriptor : table_) {
    if (descriptor && descriptor->file() != nullptr) bytes += size_of(*descriptor->file());
  }
  return volume::frees_slowly(bytes);
}

Fd slow_to_close(Descriptor gone) {
  File* file = gone.file();
  if (file == nullptr || !volume::frees_slowly(size_of(*file))) return {};
  return std::move(file->fd);
}

}  // namespace subako::wasi
