#include "core/package.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/node.h"

namespace subako::core {

const protocol::Tool* CheckedPackage::find(std::string_view tool) const {
  const auto found = std::ranges::find(tools, tool, &protocol::Tool::name);
  return found == tools.end() ? nullptr : &*found;
}

Result<BundleSource> open_bundle(const std::string& path) {
  // Without O_NONBLOCK a named pipe would hold us here.
  Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat s{};
  if (!file.valid() || fstat(file.get(), &s) != 0) {
    return std::unexpected(system_error("opening the bundle " + path, errno));
  }
  if (!S_ISDIR(s.st_mode) && !S_ISREG(s.st_mode)) {
    return fail(Code::kInvalid, "the bundle " + path + " is neither a folder nor a file");
  }
  return BundleSource{std::move(file), S_ISDIR(s.st_mode)};
}

Result<std::string> find_child_executable() {
  std::array<char, PATH_MAX> link{};
  const ssize_t n = readlink("/proc/self/exe", link.data(), link.size() - 1);
  if (n < 0)
    return std::unexpected(system_error("finding this program's own folder (/proc/self/exe)", errno));
  const std::string self(link.data(), static_cast<size_t>(n));
  const std::string folder = self.substr(0, self.rfind('/'));
  const std::string beside = folder + "/subako-child";
  const std::string libexec = folder + "/../libexec/subako/subako-child";
  for (const std::string& path : {beside, libexec}) {
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return fail(Code::kUnsupported, "subako-child, which runs guests, is missing: it belongs at " + beside +
                                      " or " + libexec + "; install subako anew");
}

}  // namespace subako::core
