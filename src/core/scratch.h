// Where a process of ours keeps what it needs only while it runs: unpacked assets, temporary Volumes.
//
// One folder `.subako-scratch-XXXXXX` (0700) in $TMPDIR or /tmp, with a lock file that says what it is and is
// held as long as its process lives. It is removed with the object; one that a killed process has left (ours
// by owner, mode and lock file, and that lock is free) is removed by the next create(). A folder without our
// lock file is never emptied, whatever its name and age. Folders made within don't outlive the Scratch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace subako::core {

// A folder that is removed, with all in it, when this is destroyed.
class ScratchFolder {
 public:
  ScratchFolder(Fd parent, std::string name, Fd folder, std::string path)
      : parent_(std::move(parent)),
        name_(std::move(name)),
        folder_(std::move(folder)),
        path_(std::move(path)) {}
  ScratchFolder(ScratchFolder&&) noexcept = default;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  [[nodiscard]] int fd() const { return folder_.get(); }  // opened O_RDONLY | O_DIRECTORY
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Fd parent_;
  std::string name_;
  Fd folder_;
  std::string path_;
};

class Scratch {
 public:
  // $TMPDIR, else /tmp.
  [[nodiscard]] static std::string default_parent();
  // Sweeps what dead processes of ours have left in `parent`, then makes a folder there.
  [[nodiscard]] static Result<Scratch> create(const std::string& parent);

  Scratch(Scratch&&) noexcept = default;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  [[nodiscard]] const std::string& path() const { return path_; }
  // A new folder, 0700, called `purpose` and a number.
  [[nodiscard]] Result<ScratchFolder> make_folder(std::string_view purpose);

 private:
  Scratch(Fd parent, std::string name, Fd folder, Fd lock, std::string path);

  Fd parent_;
  std::string name_;
  Fd folder_;
  Fd lock_;
  std::string path_;
  uint64_t next_ = 1;
};

}  // namespace subako::core
