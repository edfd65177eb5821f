#include "guest_world.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

#include "require.h"

namespace subako::fuzz {

namespace {

std::string random_letters(size_t count) {
  std::string text(count, '\0');
  require(::getrandom(text.data(), count, 0) == static_cast<ssize_t>(count), "there is randomness");
  for (char& c : text) c = static_cast<char>('A' + (static_cast<unsigned char>(c) % 16));
  return text;
}

// Calls each(directory, name, stat) for everything beneath, in the order of the names.
template <class Each>
void walk(int parent, const char* name, const Each& each) {
  DIR* stream = ::fdopendir(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  require(stream != nullptr, "a directory of the world can be read", name);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view found = entry->d_name;
    if (found != "." && found != "..") names.emplace_back(found);
  }
  std::ranges::sort(names);
  for (const std::string& one : names) {
    struct stat found{};
    require(::fstatat(::dirfd(stream), one.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0, "an entry stays");
    each(::dirfd(stream), one, found);
    if (S_ISDIR(found.st_mode)) walk(::dirfd(stream), one.c_str(), each);
  }
  ::closedir(stream);
}

std::string content(int directory, const std::string& name, const struct stat& found) {
  std::array<char, 256> bytes{};
  if (S_ISLNK(found.st_mode)) {
    const ssize_t length = ::readlinkat(directory, name.c_str(), bytes.data(), bytes.size());
    return {bytes.data(), static_cast<size_t>(std::max<ssize_t>(length, 0))};
  }
  if (!S_ISREG(found.st_mode)) return "";
  const Fd file(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOATIME));
  const ssize_t length = ::read(file.get(), bytes.data(), bytes.size());
  return {bytes.data(), static_cast<size_t>(std::max<ssize_t>(length, 0))};
}

void add(std::string& out, uint64_t value) {
  out += std::to_string(value) + " ";
}

}  // namespace

Folder::Folder() : mark_("~" + random_letters(15)) {
  root_ = (std::filesystem::temp_directory_path() / ("subako-fuzz-" + mark_)).string();
  require(::mkdir(root_.c_str(), 0700) == 0, "there is a folder for the world", root_);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

// As same().
bool Folder::holds_mark(std::span<const std::byte> bytes) const {
  while (bytes.size() >= mark_.size()) {
    const void* first = std::memchr(bytes.data(), mark_[0], bytes.size() - mark_.size() + 1);
    if (first == nullptr) return false;
    bytes = bytes.subspan(static_cast<size_t>(static_cast<const std::byte*>(first) - bytes.data()));
    size_t same = 1;
    while (same < mark_.size() && bytes[same] == static_cast<std::byte>(mark_[same])) ++same;
    if (same == mark_.size()) return true;
    bytes = bytes.subspan(1);
  }
  return false;
}

void Folder::directory(std::string_view path) const {
  require(::mkdir(at(path).c_str(), 0700) == 0, "a directory of the world is made", path);
}

void Folder::file(std::string_view path, std::string_view text) const {
  const Fd made(::open(at(path).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  require(::write(made.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()),
          "a file of the world is written", path);
}

void Folder::link(std::string_view path, std::string_view target) const {
  require(::symlink(std::string(target).c_str(), at(path).c_str()) == 0, "a link of the world is made", path);
}

void Folder::remove(std::string_view path) const {
  std::filesystem::remove_all(at(path));
}

Fd Folder::open(std::string_view path) const {
  return Fd(::open(at(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

std::string Folder::state(std::string_view path) const {
  std::string all;
  walk(AT_FDCWD, at(path).c_str(), [&all](int directory, const std::string& name, const struct stat& found) {
    all += name + " ";
    for (const uint64_t value :
         {uint64_t{found.st_mode}, uint64_t{found.st_ino}, uint64_t{found.st_nlink},
          static_cast<uint64_t>(found.st_size), static_cast<uint64_t>(found.st_mtim.tv_sec),
          static_cast<uint64_t>(found.st_mtim.tv_nsec)}) {
      add(all, value);
    }
    all += content(directory, name, found) + "\n";
  });
  return all;
}

uint64_t Folder::bytes(std::string_view path) const {
  uint64_t sum = 0;
  std::set<ino_t> seen;
  walk(AT_FDCWD, at(path).c_str(), [&](int, const std::string&, const struct stat& found) {
    if (S_ISREG(found.st_mode) && seen.insert(found.st_ino).second)
      sum += static_cast<uint64_t>(found.st_size);
  });
  return sum;
}

bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  size_t at = 0;
  while (at < a.size() && a[at] == b[at]) ++at;
  return at == a.size();
}

size_t open_descriptors() {
  DIR* stream = ::opendir("/proc/self/fd");
  require(stream != nullptr, "the descriptors of this process can be counted");
  size_t count = 0;
  while (::readdir(stream) != nullptr) ++count;
  ::closedir(stream);
  return count;
}

}  // namespace subako::fuzz
