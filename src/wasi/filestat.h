// Between the kernel's idea of a file's state and WASI's.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>

#include "wasi/reply.h"
#include "wasi/types.h"

namespace subako::wasi {

[[nodiscard]] FileType type_of(mode_t mode);

// Times before 1970 and past 2554, which a guest's u64 can't hold, become the nearest that it can.
[[nodiscard]] Filestat filestat_of(const struct stat& found);

// A virtual directory: nothing on a disk, so no device, times of 1970, and an inode number of its own.
inline constexpr uint64_t kVirtualInode = 1;
[[nodiscard]] Filestat virtual_filestat();

// For utimensat(2). A time given and "now" together, or an unknown flag: kInval.
[[nodiscard]] Try<std::array<timespec, 2>> times_of(uint64_t accessed, uint64_t modified, TimeFlags flags);

}  // namespace subako::wasi
