// Values of the rooms to and from the messages of child/messages.proto.
#pragma once

#include <vector>

#include "base/fd.h"
#include "child/confine.h"
#include "child/messages.pb.h"
#include "protocol/outcome.h"
#include "protocol/tool_list.h"
#include "wasi/host.h"

namespace subako::worker {

[[nodiscard]] child::Tool to_wire(const protocol::Tool& tool);
[[nodiscard]] child::Crashed to_wire(const protocol::Crash& crash);

// What the guest is given, of which `trees` preopens have a tree: the preopens in the order of F1, and as many descriptors as
// `descriptors` of the kernel's allow.
[[nodiscard]] wasi::World world_of(const child::StartRun& start, size_t trees, size_t descriptors,
                                   volume::Ledger* ledger);

[[nodiscard]] child::Measured::VolumeFull to_wire(wasi::Host::Full full);
[[nodiscard]] volume::Counts counts_of(const child::VolumeCounts& counts);
[[nodiscard]] child::VolumeCounts to_wire(const volume::Counts& counts);
// The trees as the second tier of the sandbox takes them.
[[nodiscard]] std::vector<child::ConfinedTree> confined_trees(const child::StartRun& start, const std::vector<Fd>& trees);
// Their trees: a descriptor for each that has one, in the same order.
void bind_trees(const child::StartRun& start, std::vector<Fd> trees, wasi::Host& host);

}  // namespace subako::worker
