// One job of a builder process, from its start to its end (spec: M6); private to core.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "child/messages.pb.h"
#include "core/asio.h"
#include "core/node.h"

namespace subako::core {

struct BuilderJob {
  child::ToBuilder message;
  std::vector<Fd> descriptors;
  std::function<void(BuildPhase)> progress;  // may be empty
  Time deadline = Time::max();               // or builder_wall from its start, whichever comes first
};

// The builder's last word, after its process has ended: what it did, or why not. Over its limits of CPU
// time, wall time or memory, or crashed: a refusal by M6 that tells which. Killed by somebody else, or not
// to be heard: an Error.
[[nodiscard]] Task<Result<std::variant<child::Unpacked, child::Compiled, child::Packed, Refused>>>
run_builder(asio::io_context& io, NodeOptions options, BuilderJob job);

}  // namespace subako::core
