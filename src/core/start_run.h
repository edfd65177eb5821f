// A run as a worker is asked for it, with the descriptors of its trees (spec: F1, U1); private to core.
#pragma once

#include <vector>

#include "base/fd.h"
#include "child/messages.pb.h"
#include "core/call.h"

namespace subako::core {

struct StartRun {
  child::StartRun message;      // but the numbers of the run and the module
  std::vector<Fd> descriptors;  // one for each preopen that has a tree
};

// More skills than a frame carries are kLimit.
[[nodiscard]] Result<void> check_trees(const Trees& trees);
// Preopens in the order of F1; of trees that were checked. The times of both, and their memory, are left to the caller.
// `volume_most`: what its Volume may hold (spec: F5).
[[nodiscard]] Result<StartRun> start_call(const CallRequest& request, const volume::Counts& volume_most);
// The same for runs that can open the same trees, whatever their descriptors. Never 0.
[[nodiscard]] uint64_t trees_key(const StartRun& start);
// Only /package, where the package has assets.
[[nodiscard]] Result<StartRun> start_upload(const BuiltPackage& package);

}  // namespace subako::core
