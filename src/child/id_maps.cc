#include "child/id_maps.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/fd.h"

namespace subako::child {

namespace {

// "<id> <id> 1"
std::array<char, 64> line_of(unsigned id) {
  std::array<char, 64> line{};
  char* end = std::to_chars(line.data(), line.data() + 24, id).ptr;
  *end++ = ' ';
  end = std::to_chars(end, end + 24, id).ptr;
  *end++ = ' ';
  *end = '1';
  return line;
}

}  // namespace

int write_file(const char* path, const char* text) {
  const Fd file(open(path, O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return errno;
  const size_t size = strlen(text);
  const ssize_t n = write(file.get(), text, size);
  if (n < 0) return errno;
  return static_cast<size_t>(n) == size ? 0 : EIO;
}

int map_self(uid_t user, gid_t group) {
  // Without it who has no rights outside may map no group.
  if (const int error = write_file("/proc/self/setgroups", "deny"); error != 0 && error != ENOENT)
    return error;
  if (const int error = write_file("/proc/self/uid_map", line_of(user).data()); error != 0) return error;
  return write_file("/proc/self/gid_map", line_of(group).data());
}

}  // namespace subako::child
