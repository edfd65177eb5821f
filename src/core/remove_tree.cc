#include "core/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"

namespace subako::core {

namespace {

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};

struct Entry {
  std::string name;
  bool folder = false;
};

constexpr size_t kAtOnce = 4096;  // names held in memory

bool is_folder(int parent, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat s{};
  return fstatat(parent, entry.d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(s.st_mode);
}

// Some entries of the folder, from its beginning.
Result<std::vector<Entry>> some_entries(int folder, const char* keep) {
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return std::unexpected(system_error("reading a folder to remove it", errno));
  const std::unique_ptr<DIR, CloseDir> dir(fdopendir(own));
  if (!dir) {
    close(own);
    return fail(Code::kUnavailable, "reading a folder to remove it: no memory");
  }
  std::vector<Entry> out;
  while (const dirent* entry = out.size() < kAtOnce ? readdir(dir.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || (keep != nullptr && name == keep)) continue;
    out.push_back({std::string(name), is_folder(folder, *entry)});
  }
  return out;
}

// Folders within folders are moved up to the root, so that depth costs nothing.
class Remover {
 public:
  Remover(int root, const char* keep) : root_(root), keep_(keep) {}

  Result<void> run() {
    for (;;) {
      TRY(const std::vector<Entry> entries, some_entries(root_, keep_));
      if (entries.empty()) return {};
      for (const Entry& entry : entries) TRY_VOID(remove(entry));
    }
  }

 private:
  Result<void> remove(const Entry& entry) {
    if (!entry.folder) return unlink(root_, entry.name);
    if (unlinkat(root_, entry.name.c_str(), AT_REMOVEDIR) == 0) return {};
    TRY(const int opened, open_folder_forced(root_, entry.name.c_str()));
    const Fd folder(opened);
    for (;;) {
      TRY(const std::vector<Entry> entries, some_entries(folder.get(), nullptr));
      if (entries.empty()) break;
      for (const Entry& inner : entries) TRY_VOID(empty_out(folder.get(), inner));
    }
    if (unlinkat(root_, entry.name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    return std::unexpected(system_error("removing a folder", errno));
  }

  Result<void> empty_out(int folder, const Entry& inner) {
    if (!inner.folder) return unlink(folder, inner.name);
    if (unlinkat(folder, inner.name.c_str(), AT_REMOVEDIR) == 0) return {};
    // Moving a folder to another parent rewrites its "..": that needs permission on itself.
    TRY(const int opened, open_folder_forced(folder, inner.name.c_str()));
    close(opened);
    for (;;) {
      const std::string name = ".removing-" + std::to_string(next_++);
      if (renameat2(folder, inner.name.c_str(), root_, name.c_str(), RENAME_NOREPLACE) == 0) return {};
      if (errno != EEXIST) return std::unexpected(system_error("moving a folder to remove it", errno));
    }
  }

  static Result<void> unlink(int folder, const std::string& name) {
    if (unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    return std::unexpected(system_error("removing a file", errno));
  }

  int root_;
  const char* keep_;
  uint64_t next_ = 0;
};

}  // namespace

Result<int> open_folder_forced(int parent, const char* name) {
  constexpr int kFlags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const Fd path(openat(parent, name, O_PATH | kFlags));
  if (!path.valid()) return std::unexpected(system_error("opening a folder", errno));
  struct stat s{};
  if (fstat(path.get(), &s) == 0 && (s.st_mode & S_IRWXU) != S_IRWXU) {
    // A descriptor of this kind takes no fchmod; its name in /proc is the same folder, whatever lies at
    // `name` now.
    (void)chmod(("/proc/self/fd/" + std::to_string(path.get())).c_str(), S_IRWXU);
  }
  const int folder = openat(path.get(), ".", O_RDONLY | kFlags);
  if (folder < 0) return std::unexpected(system_error("opening a folder", errno));
  return folder;
}

Result<void> remove_contents(int folder, const char* keep) {
  return Remover(folder, keep).run();
}

}  // namespace subako::core
