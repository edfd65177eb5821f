// Counts a session's Volume where what it holds isn't known (spec: F5); private to core.
#pragma once

#include <memory>

#include "core/asio.h"
#include "core/call.h"
#include "core/off_loop.h"
#include "core/session_volume.h"
#include "core/signal.h"
#include "core/worker_link.h"

namespace subako::core {

// True: its counts are there, and `worker` can have it. False: cancelled. Of several calls that wait for the same Volume one counts; `counted`, which is the Node's,
// wakes the others. An Error is the machine's, or the Node's end.
[[nodiscard]] Task<Result<bool>> count_volume(OffLoop& off_loop, Signal& counted, std::shared_ptr<SessionVolume> volume,
                                              std::shared_ptr<WorkerLink> worker, CallWatch* watch);

}  // namespace subako::core
