#include "wasi/place.h"

#include <algorithm>
#include <climits>

#include "base/result.h"
#include "base/utf8.h"

namespace subako::wasi {

namespace {

// Cuts the next name off `path`, without the slashes around it; "" at the end.
std::string_view next_name(std::string_view& path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  const std::string_view name = path.substr(0, path.find('/'));
  path.remove_prefix(name.size());
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return name;
}

std::string_view peek_name(std::string_view path) {
  return next_name(path);
}

struct Step {
  const Root* root = nullptr;
  std::string_view path;  // within the root's tree; "" for the virtual directory itself
};

// A virtual directory holds only preopens, which are real directories: "a/.." right beneath it needs no look
// at the disk.
Try<Step> walk_virtual(const Host& host, const Root& from, std::string_view path) {
  while (true) {
    const std::string_view name = next_name(path);
    if (name.empty()) return Step{&from, ""};
    if (name == ".") continue;
    if (name == "..") return refuse(Errno::kPerm);
    const Root* child = child_of(host, from, name);
    if (child == nullptr) return refuse(Errno::kNoEnt);
    while (peek_name(path) == ".") next_name(path);
    if (peek_name(path) != "..") return Step{child, path.empty() ? "." : path};
    next_name(path);
  }
}

Try<const volume::Tree*> tree_of(Host& host, const Root& root) {
  if (!root.has_tree) return nullptr;
  if (!root.tree) return refuse(host.wait({}));
  return &*root.tree;
}

}  // namespace

Reply check_text(std::string_view path) {
  if (path.size() >= PATH_MAX) return refuse(Errno::kNameTooLong);
  if (path.contains('\0')) return refuse(Errno::kInval);
  if (!utf8::valid(path)) return refuse(Errno::kIlseq);
  return {};
}

std::string_view name_beneath(const Root& root, const Root& child) {
  std::string_view path = child.path;
  if (!path.starts_with(root.path)) return "";
  path.remove_prefix(root.path.size());
  if (!path.starts_with('/') || path.find('/', 1) != std::string_view::npos) return "";
  return path.substr(1);
}

const Root* child_of(const Host& host, const Root& root, std::string_view name) {
  for (const Root& child : host.roots()) {
    if (name_beneath(root, child) == name) return &child;
  }
  return nullptr;
}

Try<const volume::Tree*> tree_of(Host& host, const Directory& directory) {
  if (directory.opened) return &*directory.opened;
  return tree_of(host, *directory.root);
}

Try<Place> find_place(Host& host, FdNumber fd, std::string_view path, Rights rights, Change change) {
  Descriptor* from = host.descriptors().find(fd);
  if (from == nullptr || from->stream() != nullptr) return refuse(Errno::kBadf);
  if (from->file() != nullptr) return refuse(Errno::kNotDir);
  TRY_VOID(host.descriptor(fd, rights));
  TRY_VOID(check_text(path));
  const Directory& directory = *from->directory();
  if (change == Change::kYes && !directory.root->writable) return refuse(Errno::kPerm);
  if (path.empty()) return refuse(Errno::kNoEnt);
  if (path.front() == '/') return refuse(Errno::kPerm);
  if (!directory.is_virtual()) {
    TRY(const volume::Tree* tree, tree_of(host, directory));
    return Place{from, directory.root, tree, path};
  }
  TRY(const Step step, walk_virtual(host, *directory.root, path));
  TRY(const volume::Tree* tree, tree_of(host, *step.root));
  return Place{from, step.root, tree, step.path};
}

}  // namespace subako::wasi
