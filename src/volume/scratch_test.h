// For tests: a directory of the host that goes with its object, with shorthands to fill it and look into it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace subako::volume {

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "subako-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    root_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::filesystem::path at(std::string_view path) const { return root_ / path; }
  void directory(std::string_view path) const { std::filesystem::create_directories(at(path)); }
  void file(std::string_view path, std::string_view text = "") const { std::ofstream(at(path)) << text; }
  void link(std::string_view path, std::string_view target) const {
    std::filesystem::create_symlink(target, at(path));
  }
  [[nodiscard]] bool exists(std::string_view path) const {
    return std::filesystem::exists(std::filesystem::symlink_status(at(path)));
  }
  [[nodiscard]] std::string text(std::string_view path) const {
    std::ifstream in(at(path));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] struct stat stat(std::string_view path) const {
    struct stat found{};
    ::lstat(at(path).c_str(), &found);
    return found;
  }
  [[nodiscard]] Fd open(std::string_view path = ".") const {
    return Fd(::open(at(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

 private:
  std::filesystem::path root_;
};

// How many descriptors this process has open: a leak shows as a difference.
inline long open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

}  // namespace subako::volume
