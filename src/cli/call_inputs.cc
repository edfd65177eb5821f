#include "cli/call_inputs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "base/copy_fd.h"
#include "base/limits.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace subako::cli {

namespace {

Result<std::string> read_bounded(int fd, const std::string& name) {
  std::string text;
  for (;;) {
    const size_t had = text.size();
    text.resize(had + 64 * limits::kKiB);
    const ssize_t n = read(fd, text.data() + had, text.size() - had);
    const int error = errno;
    text.resize(had + (n > 0 ? static_cast<size_t>(n) : 0));
    if (n == 0) return text;
    if (n < 0 && error != EINTR)
      return std::unexpected(system_error("reading the arguments from " + name, error));
    if (text.size() > limits::kArgumentsTextBytes) {
      return fail(Code::kTooLarge,
                  "the arguments in " + name + " are longer than 4 MiB, and may be 1 MiB of compact JSON");
    }
  }
}

bool is_grant_name(std::string_view name) {
  return !name.empty() && name.size() <= limits::kNameChars &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos;
}

Result<Fd> open_folder(const std::string& path, const std::string& what) {
  Fd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return std::unexpected(system_error("opening " + what + " " + path, errno));
  return folder;
}

// With data/ a tool's process is handed the folder around both trees: nothing else may lie there. Looks at three names at most.
Result<void> hold_only_trees(const Fd& root, const std::string& path) {
  const auto failed = [&path] { return std::unexpected(system_error("reading the folder of the Volume, " + path, errno)); };
  const int own = openat(root.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return failed();
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(fdopendir(own), &closedir);
  if (!folder) {
    close(own);
    return failed();
  }
  errno = 0;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || name == "tmp" || name == "data") continue;
    return fail(Code::kInvalid, "the folder of the Volume, " + path + ", holds " + in_quotes(name) +
                                    " beside tmp and data, which a Volume with --data shares with nothing: name an empty "
                                    "folder, or one of its own");
  }
  if (errno != 0) return failed();
  return {};
}

}  // namespace

Result<std::string> read_arguments(const std::string& given) {
  if (given == "-") return read_bounded(STDIN_FILENO, "standard input");
  if (!given.starts_with('@')) return given;
  const std::string path = given.substr(1);
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.valid()) return std::unexpected(system_error("reading the arguments from " + path, errno));
  return read_bounded(file.get(), path);
}

Result<std::vector<core::SkillTree>> open_skills(const std::vector<std::string>& given) {
  std::vector<core::SkillTree> skills;
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return fail(Code::kInvalid, "--skill takes NAME=DIR, and \"" + utf8::escape_for_people(text) + "\" has no =");
    }
    const std::string name = text.substr(0, equals);
    if (!is_grant_name(name)) {
      return fail(Code::kInvalid, "--skill takes NAME=DIR, and \"" + utf8::escape_for_people(name) +
                                      "\" can't be the name: 1 to 64 of a-z, 0-9, _ and - can");
    }
    if (std::ranges::find(skills, name, &core::SkillTree::name) != skills.end()) {
      return fail(Code::kInvalid, "two skills are called " + name);
    }
    TRY(Fd folder, open_folder(text.substr(equals + 1), "the folder of the skill " + name + ","));
    skills.push_back({name, std::move(folder)});
  }
  return skills;
}

Result<Volume> open_volume(const std::optional<std::string>& folder, bool data, core::Scratch& scratch,
                           child::Sandbox* sandbox) {
  using core::SessionVolume;
  Volume volume;
  Fd root;
  std::string path;
  SessionVolume::Holds holds = SessionVolume::Holds::kNothing;
  SessionVolume::Folders folders;
  if (folder) {
    path = *folder;
    const bool made = mkdir(path.c_str(), 0777) == 0;
    if (!made && errno != EEXIST) return std::unexpected(system_error("making the folder of the Volume, " + path, errno));
    if (!made) holds = SessionVolume::Holds::kUnknown;
    TRY(root, open_folder(path, "the folder of the Volume,"));
    if (data) TRY_VOID(hold_only_trees(root, path));
  } else {
    TRY(core::ScratchFolder made, scratch.make_folder("volume"));
    path = made.path();
    TRY(root, copy_of(made.fd(), "opening the temporary Volume"));
    volume.temporary.emplace(std::move(made));
  }
  if (volume.temporary && !data) {
    // One folder fewer to make and to remove: on a disk, as long as all else that a short call does with its Volume.
    TRY(folders.tmp, child::hand_folder(sandbox, root.get(), child::Access::kWrite));
  } else {
    TRY(folders, SessionVolume::open(root, data, path, sandbox));
  }
  volume.trees.volume = std::make_shared<SessionVolume>(1, std::move(folders), holds);
  return volume;
}

}  // namespace subako::cli
