// Counts a session's Volume where what it holds isn't known (spec: F5); private to core.
#pragma once

#include <memory>

#include "core/asio.h"
#include "core/call.h"
#include "core/off_loop.h"
#include "core/session_volume.h"
#include "core/signal.h"

namespace subako::core {

// True: its counts are there. False: cancelled. Of several calls that wait for the same Volume one counts; `counted`, which is the Node's,
// wakes the others. An Error is the machine's, or the Node's end.
[[nodiscard]] Task<Result<bool>> count_volume(OffLoop& off_loop, Signal& counted, std::shared_ptr<SessionVolume> volume,
                                              CallWatch* watch);

}  // namespace subako::core
