// What every command that looks at a bundle needs: a scratch folder, a Node with one worker, and a loop that
// it waits on. Each method waits until its job is done; Ctrl-C or SIGTERM ends it with kCancelled (a running
// call is cancelled, C12), a second one ends the process at once. The one file of this room that knows the
// loop is session.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/sandbox_option.h"
#include "cli/terminal.h"
#include "core/call.h"
#include "core/node.h"
#include "core/package.h"
#include "core/scratch.h"

namespace subako::cli {

class Session {
 public:
  enum class Cache { kNone, kUsed };
  // `terminal` decides how the guest's stderr is shown. A cache of compiled modules that can't be used is told only where the
  // user has named it.
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(const Terminal& terminal, Cache cache, const SandboxOption& sandbox);
  virtual ~Session() = default;

  [[nodiscard]] virtual core::Scratch& scratch() = 0;
  [[nodiscard]] virtual child::Sandbox& sandbox() = 0;  // to hand trees through
  [[nodiscard]] virtual Result<core::Node::BuildResult> build(core::BundleSource source,
                                                              Progress& progress) = 0;
  [[nodiscard]] virtual Result<core::Node::PackResult> pack(core::BundleSource source, Fd out) = 0;
  [[nodiscard]] virtual Result<core::UploadCheck> upload_check(core::BuiltPackagePtr package,
                                                               Progress& progress) = 0;
  // The guest's stderr passes through to ours while it runs.
  [[nodiscard]] virtual Result<core::CallRecord> call(core::CallRequest request, Progress& progress) = 0;
  // What people see of it, pictures included.
  [[nodiscard]] virtual Result<std::vector<core::SeenBlock>> see(const core::CallRecord& record,
                                                                 const core::Trees& trees,
                                                                 Progress& progress) = 0;
  [[nodiscard]] virtual Result<core::ShownPicture> redraw(const core::ShownPicture& picture,
                                                          core::PictureWish wish, Progress& progress) = 0;
  // Has a signal come?
  [[nodiscard]] virtual bool cancelled() = 0;
};

}  // namespace subako::cli
