#include "core/picture_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/limits.h"
#include "base/result.h"
#include "base/write_all.h"
#include "protocol/base64.h"
#include "protocol/picture_format.h"
#include "protocol/picture_note.h"
#include "volume/tree.h"

namespace subako::core {

namespace {

std::string system_reason(const char* what, int error) {
  return system_error(what, error).message;
}

// Why the kernel opens nothing there. Its own words are kept for what a guest can't bring about.
std::string not_opened(std::errc error, std::string_view tree) {
  switch (error) {
    case std::errc::no_such_file_or_directory:
    case std::errc::not_a_directory:
    case std::errc::filename_too_long:
      return "there is no such file";
    case std::errc::operation_not_permitted:
      return "a link on its path leads out of /volume/" + std::string(tree);
    case std::errc::too_many_symbolic_link_levels:
      return "its path is a chain of links without an end";
    case std::errc::no_such_device_or_address:
      return "it is no regular file";
    default:
      return system_reason("opening it", static_cast<int>(error));
  }
}

// Its size and first bytes.
PictureSource looked_at(Fd file) {
  struct stat found{};
  if (fstat(file.get(), &found) != 0) return std::unexpected(system_reason("looking at it", errno));
  if (S_ISDIR(found.st_mode)) return std::unexpected("it is a folder");
  if (!S_ISREG(found.st_mode)) return std::unexpected("it is no regular file");
  const auto size = static_cast<uint64_t>(found.st_size);
  if (size == 0) return std::unexpected("it is empty");
  std::array<char, 16> first{};
  ssize_t n = 0;
  do {
    n = pread(file.get(), first.data(), first.size(), 0);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return std::unexpected(system_reason("reading it", errno));
  if (!protocol::picture_format_of({first.data(), static_cast<size_t>(n)}))
    return std::unexpected(protocol::no_picture_reason());
  if (size > limits::kPictureBytes) return std::unexpected(protocol::too_large_reason(size));
  return file;
}

}  // namespace

PictureSource picture_in_base64(std::string_view base64) {
  const auto bytes = protocol::decode_base64(base64, limits::kPictureBytes);
  if (!bytes && bytes.error() == protocol::Base64Fault::kTooLarge)
    return std::unexpected(protocol::too_large_reason(limits::kPictureBytes + 1));
  if (!bytes) return std::unexpected("its data is no base64");
  Fd file(memfd_create("subako-inline-picture", MFD_CLOEXEC));
  if (!file.valid()) return std::unexpected(system_reason("keeping it", errno));
  if (auto written = write_all(file.get(), *bytes, "keeping it"); !written)
    return std::unexpected(std::move(written).error().message);
  return looked_at(std::move(file));
}

PictureSource picture_in_volume(std::string_view path, const Trees& trees) {
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) return std::unexpected("there is no such file");
  const std::string_view tree = path.substr(0, slash);
  const Fd& root = tree == "data" ? trees.volume->data() : trees.volume->tmp();
  if (!root.valid()) return std::unexpected("there is no such file");
  const std::string rest(path.substr(slash + 1));
  auto file = volume::open_beneath(root.get(), rest.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  if (!file) return std::unexpected(not_opened(file.error(), tree));
  return looked_at(*std::move(file));
}

}  // namespace subako::core
