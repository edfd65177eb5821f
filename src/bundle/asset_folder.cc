#include "bundle/asset_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/write_all.h"
#include "bundle/beneath.h"

namespace subako::bundle {

Result<void> AssetFolder::module(std::string_view bytes) {
  return write_all(module_, bytes, "writing the module");
}

Result<void> AssetFolder::folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const Fd above = open_beneath(root_, parent, O_RDONLY | O_DIRECTORY);
  if (!above.valid()) return std::unexpected(system_error("opening a folder for the assets", errno));
  if (::mkdirat(above.get(), name.c_str(), 0755) != 0) {
    return std::unexpected(system_error("making a folder for the assets", errno));
  }
  if (::fchmodat(above.get(), name.c_str(), 0755, 0) != 0) {
    return std::unexpected(system_error("setting the mode of a folder of the assets", errno));
  }
  return {};
}

Result<void> AssetFolder::open(const std::string& path) {
  file_ = open_beneath(root_, path, O_WRONLY | O_CREAT | O_EXCL, 0444);
  if (!file_.valid()) return std::unexpected(system_error("making a file for an asset", errno));
  if (::fchmod(file_.get(), 0444) != 0) {
    return std::unexpected(system_error("setting the mode of an asset", errno));
  }
  return {};
}

Result<void> AssetFolder::write(std::string_view bytes) {
  return write_all(file_.get(), bytes, "writing an asset");
}

// Some file systems tell of a full disk only here.
Result<void> AssetFolder::close() {
  if (::close(file_.release()) != 0 && errno != EINTR) {
    return std::unexpected(system_error("closing an asset", errno));
  }
  return {};
}

}  // namespace subako::bundle
