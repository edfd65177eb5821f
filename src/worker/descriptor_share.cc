#include "worker/descriptor_share.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/limits.h"

namespace subako::worker {

namespace {

constexpr size_t kStreams = 3;      // a guest's, which are no descriptors of the kernel's
constexpr size_t kOfTheWorker = 64;  // its socket, its signals, modules on their way
constexpr size_t kLeastShare = 32;   // of a guest: its trees, and some files
constexpr size_t kLeast = 8;         // of these, for what it opens

}  // namespace

Division divide_descriptors(uint32_t guests) {
  rlimit files{};
  (void)getrlimit(RLIMIT_NOFILE, &files);  // it doesn't fail
  const size_t all = files.rlim_cur;
  const size_t theirs = all - std::min(all, kOfTheWorker);
  const size_t able = std::clamp<size_t>(theirs / kLeastShare, 1, std::max<uint32_t>(guests, 1));
  return {static_cast<uint32_t>(able), theirs / able};
}

size_t guest_descriptors(size_t share, size_t preopens, size_t trees) {
  const size_t taken = 2 * trees + 1;
  const size_t left = std::max(share - std::min(share, taken), kLeast);
  return std::min<size_t>(limits::kDescriptors, kStreams + preopens + left);
}

}  // namespace subako::worker
