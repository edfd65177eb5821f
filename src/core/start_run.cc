#include "core/start_run.h"

#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "base/copy_fd.h"
#include "base/limits.h"
#include "core/digest.h"

namespace subako::core {

namespace {

Result<void> add_tree(StartRun& out, std::string path, bool writable, int folder) {
  TRY(Fd copy, copy_of(folder, "handing the folder " + path + " to a worker"));
  child::Preopen& preopen = *out.message.add_preopens();
  preopen.set_path(std::move(path));
  preopen.set_writable(writable);
  preopen.set_has_tree(true);
  out.descriptors.push_back(std::move(copy));
  return {};
}

Result<void> add_package(StartRun& out, const BuiltPackage& package) {
  out.message.set_package(package.name);
  if (!package.assets) return {};
  return add_tree(out, "/package", false, package.assets_tree.get());
}

Result<void> add_skills(StartRun& out, const std::vector<SkillTree>& skills) {
  child::Preopen& all = *out.message.add_preopens();
  all.set_path("/skills");
  std::vector<const SkillTree*> sorted;
  for (const SkillTree& skill : skills) sorted.push_back(&skill);
  std::ranges::sort(sorted, {}, [](const SkillTree* skill) { return skill->name; });
  for (const SkillTree* skill : sorted)
    TRY_VOID(add_tree(out, "/skills/" + skill->name, false, skill->folder.get()));
  return {};
}

}  // namespace

uint64_t trees_key(const StartRun& start) {
  std::string all;
  size_t next = 0;
  for (const child::Preopen& preopen : start.message.preopens()) {
    if (!preopen.has_tree()) continue;
    struct stat s{};
    (void)fstat(start.descriptors[next++].get(), &s);
    all += std::to_string(s.st_dev) + " " + std::to_string(s.st_ino) + (preopen.writable() ? " rw\n" : " ro\n");
  }
  Checksum sum;
  sum.add(all);
  return std::max<uint64_t>(sum.value(), 1);
}

Result<void> check_trees(const Trees& trees) {
  if (trees.skills.size() + 3 > limits::kFrameDescriptors) {
    return fail(Code::kLimit, "a call can have " + std::to_string(limits::kFrameDescriptors - 3) +
                                  " skills at most, not " + std::to_string(trees.skills.size()));
  }
  return {};
}

Result<StartRun> start_call(const CallRequest& request, const volume::Counts& volume_most) {
  const Trees& trees = *request.trees;
  StartRun out;
  TRY_VOID(add_tree(out, "/volume/tmp", true, trees.volume->tmp().get()));
  if (trees.volume->data().valid()) TRY_VOID(add_tree(out, "/volume/data", true, trees.volume->data().get()));
  TRY_VOID(add_package(out, *request.package->built));
  TRY_VOID(add_skills(out, trees.skills));
  out.message.mutable_volume()->mutable_most()->set_bytes(volume_most.bytes);
  out.message.mutable_volume()->mutable_most()->set_entries(volume_most.entries);
  out.message.mutable_call()->set_tool(request.tool);
  out.message.mutable_call()->set_arguments(request.arguments);
  return out;
}

Result<StartRun> start_upload(const BuiltPackage& package) {
  StartRun out;
  TRY_VOID(add_package(out, package));
  out.message.mutable_upload();
  return out;
}

}  // namespace subako::core
