// What keeps the children of this process in, as core sees it: one tier for all of them, found by trying it, and the way to hand them
// trees. Owned together by a Node, whoever opens trees for it, and the copies of its options.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "child/enter_sandbox.h"
#include "child/handed_tree.h"

namespace subako::child {

class Sandbox {
 public:
  // The best tier that works here, or exactly `wanted`. `executable` is a subako-child; `folder` lies where most trees will. Nothing but
  // an explicit Tier::kNone is ever less than Landlock: an Error (kUnsupported) says what is forbidden and what to try.
  [[nodiscard]] static Result<std::shared_ptr<Sandbox>> find(const std::string& executable,
                                                             std::optional<Tier> wanted,
                                                             const std::string& folder);
  // As find(), but that a child can shut itself in with namespaces isn't tried where nothing speaks against it: that takes 2 ms. Where it
  // can't, the first child that is started says so, runs nothing, and find() tells what there is instead.
  [[nodiscard]] static Result<std::shared_ptr<Sandbox>> expect(const std::string& executable, std::optional<Tier> wanted,
                                                               const std::string& folder);
  [[nodiscard]] bool tried() const { return tried_; }

  [[nodiscard]] const Cell& cell() const { return cell_; }
  // Sentences: why it is no better than it is; empty where it is the best.
  [[nodiscard]] const std::vector<std::string>& lacks() const { return lacks_; }

  // What a child is to be given for the folder or the file: a mount of its own, or a copy of the descriptor where the tier has no mounts.
  // The child can do there what the owner of `owned_like` can, which is `folder` itself where left out.
  [[nodiscard]] Result<Fd> hand_folder(int folder, Access access, int owned_like = -1);
  [[nodiscard]] Result<Fd> hand_file(int file);

 private:
  Sandbox() = default;
  [[nodiscard]] Result<void> prepare_namespaces(const std::string& folder);

  Cell cell_;
  bool tried_ = true;
  std::optional<OwnerMaps> maps_;  // where the cell has an id
  std::vector<std::string> lacks_;
};

// As Sandbox's, where there may be none: then copies.
[[nodiscard]] Result<Fd> hand_folder(Sandbox* sandbox, int folder, Access access, int owned_like = -1);
[[nodiscard]] Result<Fd> hand_file(Sandbox* sandbox, int file);

}  // namespace subako::child
