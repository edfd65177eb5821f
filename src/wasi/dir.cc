#include "base/limits.h"
#include "base/result.h"
#include "wasi/functions.h"
#include "wasi/listing.h"

namespace subako::wasi {

// A buffer that isn't filled to its end means that the directory has ended. So a large one is filled in
// pieces, each a turn of its own, and not left short.
Reply fd_readdir(Host& host, FdNumber fd, GuestBuffer to, uint64_t cookie, OutPtr<uint32_t> used) {
  Progress progress = host.take_progress();
  TRY(Descriptor * found, host.descriptor(fd, Rights::kNone));
  if (found->directory() == nullptr) return refuse(found->file() != nullptr ? Errno::kNotDir : Errno::kBadf);
  TRY(found, host.descriptor(fd, Rights::kFdReaddir));
  if (progress.done > 0) cookie = progress.cookie;
  EntryWriter out(to.bytes.subspan(progress.done));
  TRY(const Filled filled, fill(host, *found->directory(), cookie, limits::kListedAtOnceBytes, out));
  progress.done += out.used();
  if (out.left() > 0 && !filled.end) {
    progress.cookie = filled.cookie;
    return refuse(host.wait({.at = std::nullopt, .stdin = false, .now = true}, progress));
  }
  used.set(static_cast<uint32_t>(progress.done));
  return {};
}

}  // namespace subako::wasi
