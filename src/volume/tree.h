// An open directory and everything beneath it, as a guest may name it (spec: F2, F6). No path given to a Tree
// leaves it, not even for a moment: what would is operation_not_permitted. Links out of the tree, absolute
// ones too, are never followed.
//
// How: openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS) on the whole path where one call does the job; else
// on the path's parent, and then one name without a slash (path.h). A path that is one name needs no openat2 but to be opened,
// to have its times set, or where it is a link to be followed: the *at() calls take it, links not followed, and so it can't lead
// out. Trailing slashes mean "this is a directory", judged by us.
//
// Where the Volume has no room for one entry more, what would make one is no_space_on_device; what can't be done for another reason, or
// makes none, is answered as ever.
//
// Errors are the kernel's own, for the guest to see. Whether a change is allowed at all (a read-only tree) is
// for the caller to say, before it calls.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "base/fd.h"
#include "volume/counts.h"

namespace subako::volume {

// The kernel's error, for a guest; not an Error of ours.
template <class T>
using Outcome = std::expected<T, std::errc>;

struct Opened {
  Fd fd;
  bool directory = false;
  bool made = false;    // there was none before
  struct stat found{};  // as it was opened
};

enum class LastLink : bool { kStay = false, kFollow = true };

// A name that has just been removed.
struct Removed {
  std::optional<struct stat> was;  // what it named, before; none where nothing was removed
  // A file whose last name it was, held open: what it takes up is freed when this is closed, which takes long for a big one (67 ms for 1 GiB).
  // So the removal itself is quick, and the caller chooses who waits. Invalid where there is little to free.
  Fd hold;
};

// What is freed with a file, in memory or on the disk, and whether freeing so much takes long.
[[nodiscard]] uint64_t freed_bytes(const struct stat& file);
[[nodiscard]] bool frees_slowly(uint64_t bytes);

// Files and directories of a Volume belong to one session: nobody else on the host has business with them.
inline constexpr mode_t kFileMode = 0600;
inline constexpr mode_t kDirectoryMode = 0700;

class Tree {
 public:
  // `directory` may be an O_PATH descriptor.
  explicit Tree(Fd directory) : directory_(std::move(directory)) {}

  [[nodiscard]] int fd() const { return directory_.get(); }

  // `flags` as open(2)'s; O_CLOEXEC, O_NOCTTY and O_NONBLOCK (a FIFO mustn't hold us) come on top. Only
  // regular files and directories are opened; for anything else the answer is not_supported.
  [[nodiscard]] Outcome<Opened> open(std::string_view path, int flags, LastLink last,
                                     Room room = Room::kYes) const;
  [[nodiscard]] Outcome<struct stat> stat(std::string_view path, LastLink last) const;
  [[nodiscard]] Outcome<void> set_times(std::string_view path, LastLink last,
                                        const std::array<timespec, 2>& access_and_change) const;

  [[nodiscard]] Outcome<void> make_directory(std::string_view path, Room room = Room::kYes) const;
  [[nodiscard]] Outcome<void> remove_directory(std::string_view path) const;
  [[nodiscard]] Outcome<Removed> unlink(std::string_view path) const;  // a directory: is_a_directory

  // `target` is free text but for an absolute one: operation_not_permitted.
  [[nodiscard]] Outcome<void> make_link(std::string_view target, std::string_view path,
                                        Room room = Room::kYes) const;
  // Copies the first bytes of the target. An absolute one isn't told: it would speak of the host.
  [[nodiscard]] Outcome<size_t> read_link(std::string_view path, std::span<std::byte> to) const;

  // Between this tree and `other`, which may be the same. Two mounts answer cross_device_link. A file or an empty directory that stood
  // at `other_path` is removed; between two names of one file nothing happens.
  [[nodiscard]] Outcome<Removed> rename(std::string_view path, const Tree& other,
                                        std::string_view other_path) const;
  [[nodiscard]] Outcome<void> hard_link(std::string_view path, const Tree& other,
                                        std::string_view other_path, Room room = Room::kYes) const;

 private:
  Fd directory_;
};

// openat2 beneath `directory`. `mode` only where `flags` create.
[[nodiscard]] Outcome<Fd> open_beneath(int directory, const char* path, int flags, mode_t mode);

}  // namespace subako::volume
