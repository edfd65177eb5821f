// Making a file shorter. Freeing much of it takes long (200 ms for 1 GiB), and whoever touches the file meanwhile waits for all of
// that, on the thread that runs guests too: so it is cut in steps, by a thread of its own.
#pragma once

#include <cstdint>
#include <system_error>

#include "wasi/blocking.h"

namespace subako::wasi {

[[nodiscard]] std::errc set_size(int fd, uint64_t size);

// Until the file is no longer than `size`, or nobody wants it any more. It never grows by it, whatever others do meanwhile.
[[nodiscard]] std::errc cut_in_steps(int fd, uint64_t size, const BlockingTask::Wanted& wanted);

}  // namespace subako::wasi
