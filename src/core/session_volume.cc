#include "core/session_volume.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "core/worker_link.h"

namespace subako::core {

namespace {

Result<Fd> open_folder(int parent, const char* name, const std::string& path) {
  Fd folder(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.valid()) return std::unexpected(system_error("opening the folder " + path + "/" + name, errno));
  return folder;
}

Result<Fd> make_folder(int parent, const char* name, const std::string& path) {
  if (mkdirat(parent, name, 0777) != 0 && errno != EEXIST) {
    return std::unexpected(system_error("making the folder " + path + "/" + name, errno));
  }
  return open_folder(parent, name, path);
}

}  // namespace

Result<SessionVolume::Folders> SessionVolume::open(const Fd& root, bool data, const std::string& name,
                                                   child::Sandbox* sandbox) {
  TRY(const Fd tmp, make_folder(root.get(), "tmp", name));
  Folders folders;
  if (!data) {
    // tmp/ alone: whoever holds a folder beneath a mount reaches all of that mount by "..".
    TRY(const Fd handed, child::hand_folder(sandbox, tmp.get(), child::Access::kWrite));
    TRY(folders.tmp, open_folder(handed.get(), ".", name + "/tmp"));
    return folders;
  }
  TRY(const Fd made, make_folder(root.get(), "data", name));
  // Whose tmp/ is may differ from whose the folder around it is, which root may have found or made.
  TRY(folders.root, child::hand_folder(sandbox, root.get(), child::Access::kWrite, tmp.get()));
  TRY(folders.tmp, open_folder(folders.root.get(), "tmp", name));
  TRY(folders.data, open_folder(folders.root.get(), "data", name));
  return folders;
}

std::optional<volume::Counts> SessionVolume::counts() const {
  const bool lost = holder_ && holder() == nullptr;
  return lost ? std::nullopt : counts_;
}

void SessionVolume::counted(volume::Counts counts) {
  counts_ = counts;
  holder_.reset();
}

// One that holds more than it may only ever shrinks.
void SessionVolume::told(volume::Counts counts) {
  const volume::Counts before = counts_.value_or(volume::Counts{});
  counts_ = {.bytes = std::min(counts.bytes, std::max(volume::kMostCounts.bytes, before.bytes)),
             .entries = std::min(counts.entries, std::max(volume::kMostCounts.entries, before.entries))};
}

std::shared_ptr<WorkerLink> SessionVolume::holder() const {
  auto worker = last_holder();
  return worker != nullptr && !worker->dead() ? worker : nullptr;
}

void SessionVolume::give_to(const std::shared_ptr<WorkerLink>& worker) {
  if (holder() != worker) leaving_ = 0;
  holder_ = worker;
}

bool SessionVolume::stays_elsewhere(const WorkerLink& worker) const {
  const auto there = holder();
  return leaving_ > 0 && there != nullptr && there.get() != &worker;
}

void SessionVolume::let_go() {
  if (leaving_ == 0) holder_.reset();
}

}  // namespace subako::core
