#include "worker/descriptor_share.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/limits.h"

namespace subako::worker {

namespace {

constexpr size_t kStreams = 3;      // a guest's, which are no descriptors of the kernel's
constexpr size_t kOfTheWorker = 64;  // its socket, its signals, modules on their way
constexpr size_t kLeast = 8;         // a guest that can open nothing is no use

}  // namespace

size_t descriptor_share(uint32_t guests) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
  const size_t all = files.rlim_cur;
  return (all - std::min(all, kOfTheWorker)) / std::max<uint32_t>(guests, 1);
}

size_t guest_descriptors(size_t share, size_t preopens, size_t trees) {
  const size_t taken = 2 * trees + 1;
  const size_t left = std::max(share - std::min(share, taken), kLeast);
  return std::min<size_t>(limits::kDescriptors, kStreams + preopens + left);
}

}  // namespace subako::worker
