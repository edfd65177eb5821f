// The parent side of everything untrusted (design: core holds what is worth stealing and runs nothing
// untrusted): bundles are built in a builder process of their own, guests run in worker processes, as many
// calls at once as the workers have slots.
//
// Single-threaded: everything happens on the io_context's thread but the hashing and copying of large modules
// (core/off_loop.h), and a child lives no longer than that thread. Awaitables return an Error only where we
// or the machine failed, or the caller asked for what can't be; what a bundle or a guest does is data. Calls
// may outlive the Node only by their frames: destroying it kills its children, and a call that still runs
// ends as Crash, cause host. A call is begun while its Node lives.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "child/sandbox.h"
#include "core/call.h"
#include "core/module_cache.h"
#include "core/package.h"
#include "core/picture.h"
#include "core/scratch.h"
#include "core/task.h"

namespace subako::core {

struct NodeOptions {
  std::string child_executable;  // find_child_executable(), or a test's own
  uint32_t workers = 1;
  uint32_t guests_per_worker = 256;  // at most: fewer where a process has too few descriptors or memory maps
  // For guests and the workers that run them (core/memory_plan.h); 0: 3/4 of what is available when the Node is made. One that is
  // too small for a single guest at its limits is the Error of every call.
  uint64_t memory_bytes = 0;
  // Calls that wait, in all and of one session; past it they are kBusy at once.
  uint32_t queued_calls = limits::kQueuedCalls;
  uint32_t queued_calls_of_session = limits::kQueuedCallsOfSession;
  // What keeps the children in; trees are handed through it by whoever opens them. Null only where they are stand-ins, in tests.
  std::shared_ptr<child::Sandbox> sandbox = nullptr;
  std::shared_ptr<const ModuleCache> cache = nullptr;  // with copies of these; null: each build compiles
  volume::Counts volume_most = volume::kMostCounts;  // F5: what a Volume may hold; an operator may lower it, not raise it
  // Lower in tests.
  std::chrono::seconds builder_cpu = limits::kBuilderCpu;
  std::chrono::milliseconds builder_wall = limits::kBuilderWall;
  std::chrono::seconds picture_cpu = limits::kPictureCpu;
  std::chrono::milliseconds picture_wall = limits::kPictureWall;
  std::chrono::milliseconds worker_silence = limits::kWorkerSilence;
  size_t worker_queue_bytes = 2 * size_t{limits::kFrameBytes};  // held for a worker that doesn't read
};

class Node {
 public:
  // `io` and `scratch` outlive the Node. Children are started when they are first needed.
  Node(boost::asio::io_context& io, Scratch& scratch, NodeOptions options);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();

  using BuildResult = std::variant<BuiltPackagePtr, Refused>;
  // B and M. A builder over its limits, or one that crashes, is a refusal by M6. A module that the cache has
  // is not checked and compiled again.
  [[nodiscard]] Task<Result<BuildResult>> build(BundleSource source,
                                                std::function<void(BuildPhase)> progress);
  using PackResult = std::variant<Packed, Refused>;
  // The bundle as a .tar.gz of reproducible bytes, written to `out`.
  [[nodiscard]] Task<Result<PackResult>> pack(BundleSource source, Fd out);
  // U. `watch` may be null.
  [[nodiscard]] Task<Result<UploadCheck>> upload_check(BuiltPackagePtr package, CallWatch* watch);
  // C. `request.package`, `request.trees` and `watch` (may be null) outlive the call. A tool that isn't
  // listed is kNotFound (C11).
  [[nodiscard]] Task<Result<CallRecord>> call(CallRequest request, CallWatch* watch);

  // What a model reads and people see of a call, once it has ended (spec: R2-R5): `record` with the pictures
  // that lie in `trees`. What is wrong with a picture is a note in its place; the Errors are kCancelled and
  // kUnavailable. All given outlives it; `watch` may be null.
  [[nodiscard]] Task<Result<std::vector<SeenBlock>>> see(const CallRecord& record, const Trees& trees,
                                                         SeeOptions options, CallWatch* watch);
  // A picture that see() made, for a terminal that wants it otherwise. `picture` and `watch` outlive it.
  [[nodiscard]] Task<Result<ShownPicture>> redraw(const ShownPicture& picture, PictureWish wish,
                                                  CallWatch* watch);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // with the frames of its calls
};

// subako-child beside this executable, else in ../libexec/subako/.
[[nodiscard]] Result<std::string> find_child_executable();

}  // namespace subako::core
