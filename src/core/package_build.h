// From a bundle to a package whose module can be run (spec: B, M); private to core.
//
// One builder unpacks. Another, which sees nothing but the module, checks and compiles it, where the cache hasn't got
// it: so whoever makes a bundle that takes a builder over can't decide what others find in the cache.
#pragma once

#include <functional>
#include <memory>

#include "core/asio.h"
#include "core/module_cache.h"
#include "core/node.h"
#include "core/off_loop.h"
#include "core/worker_link.h"

namespace subako::core {

// What a build needs of its Node; all outlive it.
struct BuildRoom {
  asio::io_context& io;
  Scratch& scratch;
  const NodeOptions& options;
  OffLoop& off_loop;
  // A worker, idle or not: it says what it can load, and loads what comes from the cache.
  std::function<Result<std::shared_ptr<WorkerLink>>()> worker;
};

[[nodiscard]] Task<Result<Node::BuildResult>> build_package(BuildRoom room, BundleSource source,
                                                            std::function<void(BuildPhase)> progress);

}  // namespace subako::core
