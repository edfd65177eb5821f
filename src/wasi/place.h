// Where a path of the guest leads: from (descriptor, path) to (tree, path within it). It finds the
// descriptor, checks its rights and the text of the path, waits for a tree that isn't bound yet, and steps
// through a virtual directory (spec: F1, F2). The walk itself is volume::Tree's.
#pragma once

#include <string_view>

#include "volume/tree.h"
#include "wasi/host.h"
#include "wasi/reply.h"

namespace subako::wasi {

struct Place {
  const Descriptor* from = nullptr;
  const Root* root = nullptr;
  const volume::Tree* tree = nullptr;  // none: the virtual directory itself
  std::string_view path;
};

enum class Change : bool { kNo = false, kYes = true };

// `rights` are those of the directory `fd`. A change beneath a read-only root is kPerm before anything is
// looked up.
[[nodiscard]] Try<Place> find_place(Host& host, FdNumber fd, std::string_view path, Rights rights,
                                    Change change);

// The directory `fd` and its tree (none: virtual), as find_place, for functions without a path.
[[nodiscard]] Try<const volume::Tree*> tree_of(Host& host, const Directory& directory);

// A path or a link's content that may go to the kernel: kNameTooLong, kInval (NUL), kIlseq (not UTF-8).
[[nodiscard]] Reply check_text(std::string_view path);

// The preopen right beneath the virtual `root` that is called `name`, or null; and that name, or "" where
// `child` isn't right beneath it.
[[nodiscard]] const Root* child_of(const Host& host, const Root& root, std::string_view name);
[[nodiscard]] std::string_view name_beneath(const Root& root, const Root& child);

}  // namespace subako::wasi
