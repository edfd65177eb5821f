#include "wasi/descriptors.h"

namespace subako::wasi {

Descriptor* Descriptors::find(FdNumber fd) {
  const auto index = static_cast<size_t>(fd);
  return index < table_.size() ? table_[index].get() : nullptr;
}

Try<FdNumber> Descriptors::lowest_free() const {
  size_t index = 0;
  while (index < table_.size() && table_[index] != nullptr) ++index;
  if (index >= most_) return refuse(Errno::kMfile);
  return static_cast<FdNumber>(index);
}

void Descriptors::put(FdNumber fd, Descriptor descriptor) {
  const auto index = static_cast<size_t>(fd);
  if (index >= table_.size()) table_.resize(index + 1);
  table_[index] = std::make_unique<Descriptor>(std::move(descriptor));
}

Reply Descriptors::close(FdNumber fd) {
  if (find(fd) == nullptr) return refuse(Errno::kBadf);
  table_[static_cast<size_t>(fd)].reset();
  return {};
}

Reply Descriptors::renumber(FdNumber from, FdNumber to) {
  if (find(from) == nullptr || find(to) == nullptr) return refuse(Errno::kBadf);
  if (from != to) table_[static_cast<size_t>(to)] = std::move(table_[static_cast<size_t>(from)]);
  return {};
}

}  // namespace subako::wasi
