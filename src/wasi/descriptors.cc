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
  TRY(Descriptor moved, take(from));
  put(to, std::move(moved));
  return taken;
}

namespace {

// It is about to be closed: what there may be to do then, in bytes.
uint64_t give_up(File& file) {
  if (!file.root->writable) return 0;  // nobody writes there, or takes a name away
  struct stat now{};
  if (::fstat(file.fd.get(), &now) != 0) return 0;
  file.fd.uncount(static_cast<uint64_t>(now.st_size));
  return volume::freed_bytes(now);
}

}  // namespace

bool Descriptors::about_to_close() {
  uint64_t bytes = 0;
  for (auto& descriptor : table_) {
    if (descriptor && descriptor->file() != nullptr) bytes += give_up(*descriptor->file());
  }
  return volume::frees_slowly(bytes);
}

Reply settle(File& file) {
  struct stat now{};
  if (::fstat(file.fd.get(), &now) != 0) return refuse(last_error());
  file.fd.settle(static_cast<uint64_t>(now.st_size));
  return {};
}

Fd slow_to_close(Descriptor gone) {
  File* file = gone.file();
  if (file == nullptr || !volume::frees_slowly(give_up(*file))) return {};
  return std::move(file->fd).take();
}

}  // namespace subako::wasi
