// Any path in a tree with links that lead inward, outward, to absolute places and in circles (spec: F2). A
// walk one name at a time (reference_walk.h) says where it leads: volume::Tree finds the same object, or
// gives the same reason; nothing outside the tree changes, and what didn't happen has changed nothing.
//
// An input is lines: a letter for what is done, and a path, or two with a tab between. A capital follows the
// last link where the small letter doesn't.
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "guest_world.h"
#include "input.h"
#include "reference_walk.h"
#include "require.h"
#include "volume/path.h"
#include "volume/tree.h"

using namespace subako;
using fuzz::Input;
using fuzz::Links;
using fuzz::require;
using volume::LastLink;
using volume::Tree;

namespace {

constexpr size_t kLines = 12;
using Found = std::expected<struct stat, std::errc>;

class World {
 public:
  World() {
    folder_.directory("out");
    folder_.file("out/secret", "secret");
    folder_.directory("out/dir");
    put_up();
    outside_ = folder_.state("out");
  }

  [[nodiscard]] Fd open() const { return folder_.open("tree"); }
  [[nodiscard]] std::string inside() const { return folder_.state("tree"); }

  void check_and_restore() {
    require(fuzz::same(folder_.state("out"), outside_), "what lies outside the tree stays as it was");
    if (fuzz::same(inside(), inside_)) return;
    folder_.remove("tree");
    put_up();
  }

 private:
  void put_up() {
    folder_.directory("tree");
    for (const char* name : {"tree/dir", "tree/dir/deep", "tree/dir/deep/er", "tree/empty"})
      folder_.directory(name);
    for (const char* name : {"tree/file", "tree/dir/inner", "tree/dir/deep/x"}) folder_.file(name, name);
    folder_.link("tree/lf", "file");
    folder_.link("tree/in", "dir");
    folder_.link("tree/slashed", "dir/");
    folder_.link("tree/twice", "in/deep");
    folder_.link("tree/self", ".");
    folder_.link("tree/dir/up", "..");
    folder_.link("tree/dir/around", "../in/./up/dir//deep");
    folder_.link("tree/dir/deep/file", "../../file/");
    folder_.link("tree/esc", "../out");
    folder_.link("tree/bounce", "../tree/file");
    folder_.link("tree/dir/esc", "up/../out/secret");
    folder_.link("tree/abs", folder_.at("out"));
    folder_.link("tree/root", "/");
    folder_.link("tree/loop", "loop");
    folder_.link("tree/ping", "pong");
    folder_.link("tree/pong", "ping/x");
    folder_.link("tree/dangling", "absent");
    require(::mkfifo(folder_.at("tree/fifo").c_str(), 0600) == 0, "a pipe of the world is made");
    inside_ = inside();
  }

  fuzz::Folder folder_;
  std::string inside_;
  std::string outside_;
};

std::string words(std::errc why) {
  return std::make_error_code(why).message();
}

void check_text(std::string_view path) {
  const auto whole = volume::WholePath::from(path);
  const auto split = volume::SplitPath::from(path);
  require(whole.has_value() == split.has_value(), "a path is one for both", path);
  if (!whole) return;
  const std::string_view parent = split->parent();
  const std::string_view name = split->name();
  require(path == whole->text(), "a whole path is the path");
  require(!name.empty() && !name.contains('/'), "a name is one name", path);
  require(split->dots() == (name == "." || name == ".."), "dots are told", path);
  require(split->slash() == path.ends_with('/'), "a slash behind the name is told", path);
  const std::string before =
      parent.empty() ? std::string(name) : std::string(parent) + "/" + std::string(name);
  const std::string slashes(path.size() - path.find_last_not_of('/') - 1, '/');
  require(path == before + slashes, "a path is its parent, its name and its slashes", path);
}

class Session {
 public:
  explicit Session(World& world) : world_(world), root_(world.open()), tree_(world.open()) {}

  void line(char letter, std::string_view one, std::string_view other) {
    last_ = letter >= 'A' && letter <= 'Z' ? LastLink::kFollow : LastLink::kStay;
    one_ = one;
    check_text(one);
    switch (letter | 0x20) {
      case 's':
        return stat();
      case 'o':
        return open(O_RDONLY);
      case 'd':
        return enter();
      case 'c':
        return create();
      case 'e':
        return open(O_RDWR | O_TRUNC);
      case 't':
        return set_times();
      case 'k':
        return read_link();
      case 'm':
        return change([&] { return tree_.make_directory(one); }, one,
                      [&](const Found& before, const Found& after) {
                        require(!before && after && S_ISDIR(after->st_mode),
                                "a directory is where there was nothing");
                      });
      case 'r':
        return change([&] { return tree_.remove_directory(one); }, one,
                      [&](const Found& before, const Found& after) {
                        require(before && S_ISDIR(before->st_mode) && !after, "a directory is gone");
                      });
      case 'u':
        return change([&] { return dropped(tree_.unlink(one)); }, one,
                      [&](const Found& before, const Found& after) {
                        require(before && !S_ISDIR(before->st_mode) && !after && !one.ends_with('/'),
                                "a file is gone");
                      });
      case 'l':
        return change([&] { return tree_.make_link(one, other); }, other,
                      [&](const Found& before, const Found& after) {
                        require(!before && after && S_ISLNK(after->st_mode),
                                "a link is where there was nothing");
                      });
      case 'n':
        return two(Pair::kRename, one, other);
      default:
        return two(Pair::kLink, one, other);
    }
  }

 private:
  [[nodiscard]] Found walk(std::string_view path, LastLink last) const {
    return fuzz::walk(tree_.fd(), path, last == LastLink::kFollow ? Links::kFollowAll : Links::kStayAtLast);
  }

  template <class T>
  void require_same_reason(const Found& expected, const volume::Outcome<T>& got) const {
    require(!got.has_value(), "where there is no way nothing is found", one_);
    if (expected.error() == got.error()) return;
    require(false, "the reason is the same",
            std::string(one_) + ": " + words(expected.error()) + ", not " + words(got.error()));
  }

  void stat() const {
    const Found expected = walk(one_, last_);
    const auto got = tree_.stat(one_, last_);
    if (!expected) return require_same_reason(expected, got);
    require(got.has_value(), "what is there is found", one_);
    require(got->st_ino == expected->st_ino && got->st_dev == expected->st_dev, "it is the same object",
            one_);
  }

  void open(int flags) {
    const Found expected = walk(one_, last_);
    const auto got = tree_.open(one_, flags, last_);
    if (!expected) return require_same_reason(expected, got);
    const bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if (S_ISLNK(expected->st_mode)) return require_no(got, std::errc::too_many_symbolic_link_levels);
    if (S_ISFIFO(expected->st_mode)) return require_no(got, std::errc::not_supported);
    if (S_ISDIR(expected->st_mode) && writes) return require_no(got, std::errc::is_a_directory);
    check_opened(*expected, got);
  }

  void check_opened(const struct stat& expected, const volume::Outcome<volume::Opened>& got) const {
    require(got.has_value(), "what is there is opened", one_);
    struct stat found{};
    require(::fstat(got->fd.get(), &found) == 0 && found.st_ino == expected.st_ino, "it is the same object",
            one_);
    require(got->directory == S_ISDIR(expected.st_mode), "a directory is known as one");
  }

  template <class T>
  void require_no(const volume::Outcome<T>& got, std::errc why) const {
    require(!got && got.error() == why, "this can't be opened", one_);
  }

  // What follows happens in that directory: `..` of it is outside.
  void enter() {
    const Found expected = walk(one_, last_);
    auto got = tree_.open(one_, O_RDONLY | O_DIRECTORY, last_);
    if (!expected) return require_same_reason(expected, got);
    if (!S_ISDIR(expected->st_mode)) {
      require(!got.has_value(), "only a directory is opened as one", one_);
      return;
    }
    check_opened(*expected, got);
    tree_ = Tree(std::move(got->fd));
  }

  void create() {
    const Found before = walk(one_, last_);
    const auto got = tree_.open(one_, O_RDWR | O_CREAT, last_);
    if (!got) {
      const bool missing = !before && before.error() == std::errc::no_such_file_or_directory;
      require(missing || !before || !S_ISREG(before->st_mode), "a file that is there is opened", one_);
      return;
    }
    const Found after = walk(one_, last_);
    require(after.has_value(), "what was made is in the tree", one_);
    check_opened(*after, got);
  }

  void set_times() const {
    const Found expected = walk(one_, last_);
    const auto got = tree_.set_times(one_, last_, {timespec{1, 2}, timespec{3, 4}});
    if (!expected) return require_same_reason(expected, got);
    require(got.has_value() && walk(one_, last_)->st_mtim.tv_nsec == 4, "its times are set", one_);
  }

  void read_link() const {
    std::array<std::byte, 8> to{};
    const Found expected = walk(one_, LastLink::kStay);
    const auto got = tree_.read_link(one_, to);
    if (!expected) return require_same_reason(expected, got);
    if (got) {
      require(S_ISLNK(expected->st_mode), "only a link is read", one_);
      require(*got <= to.size() && *got > 0 && to[0] != std::byte{'/'}, "an absolute link isn't told", one_);
    } else if (S_ISLNK(expected->st_mode)) {
      require(got.error() == std::errc::operation_not_permitted, "any other link is read", one_);
    }
  }

  // Something that changes what `path` names, or else nothing.
  void change(const std::function<volume::Outcome<void>()>& act, std::string_view path,
              const std::function<void(const Found& before, const Found& after)>& check) const {
    const std::string state = world_.inside();
    const Found before = walk(name_of(path), LastLink::kStay);
    const auto got = act();
    if (!got) {
      require(fuzz::same(world_.inside(), state), "what didn't happen has changed nothing", path);
      return;
    }
    check(before, walk(name_of(path), LastLink::kStay));
  }

  // What was removed is freed here and now.
  static volume::Outcome<void> dropped(volume::Outcome<volume::Removed> removed) {
    if (!removed) return std::unexpected(removed.error());
    return {};
  }

  enum class Pair : uint8_t { kRename, kLink };
  void two(Pair act, std::string_view one, std::string_view other) const {
    const Found moved = walk(name_of(one), LastLink::kStay);
    const auto target = [&] { return fuzz::walk(root_.fd(), name_of(other), Links::kStayAtLast); };
    const std::string state = world_.inside();
    const auto got = act == Pair::kRename ? dropped(tree_.rename(one, root_, other)) : tree_.hard_link(one, root_, other);
    if (!got) {
      require(fuzz::same(world_.inside(), state), "what didn't happen has changed nothing", one);
      return;
    }
    require(moved.has_value(), "what is moved or linked was there", one);
    if (one.ends_with('/') || other.ends_with('/'))
      require(act == Pair::kRename && S_ISDIR(moved->st_mode), "only a directory is written with a slash",
              one);
    const Found there = target();
    require(there && there->st_ino == moved->st_ino, "it is where it was wanted", other);
  }

  // As what changes names sees it: a slash behind the last one follows no link.
  static std::string_view name_of(std::string_view path) {
    return path.substr(0, path.find_last_not_of('/') + 1);
  }

  World& world_;
  Tree root_;
  Tree tree_;  // where paths begin
  LastLink last_ = LastLink::kStay;
  std::string_view one_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static World world;
  Input input(data, size);
  const size_t descriptors = fuzz::open_descriptors();
  {
    Session session(world);
    for (size_t lines = 0; lines < kLines && !input.empty(); ++lines) {
      Input line(input.until('\n'));
      const char letter = static_cast<char>(line.byte());
      const std::string_view one = line.until('\t');
      session.line(letter, one, line.rest());
    }
  }
  require(fuzz::open_descriptors() == descriptors, "no descriptor is left over");
  world.check_and_restore();
  return 0;
}
