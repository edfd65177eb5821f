// What changes or reads names (spec: F2). The walk is volume::Tree's; what may change at all is
// find_place()'s.
#include "base/result.h"
#include "wasi/functions.h"
#include "wasi/place.h"

namespace subako::wasi {

namespace {

Reply count(Host& host, const volume::Outcome<void>& made) {
  if (!made) return refuse(host.not_made(made.error()));
  host.made();
  return {};
}

// To the Volume, what a name that has gone took up (spec: F5); and to the machine, which may take long.
Reply give_back(Host& host, volume::Removed removed) {
  if (removed.was && host.ledger() != nullptr) host.ledger()->removed(*removed.was);
  return host.close(std::move(removed.hold));
}

}  // namespace

Reply path_create_directory(Host& host, FdNumber fd, GuestPath path) {
  TRY(const Place place, find_place(host, fd, path.text, Rights::kPathCreateDirectory, Change::kYes));
  return count(host, place.tree->make_directory(place.path, host.room()));
}

Reply path_remove_directory(Host& host, FdNumber fd, GuestPath path) {
  TRY(const Place place, find_place(host, fd, path.text, Rights::kPathRemoveDirectory, Change::kYes));
  TRY_VOID(place.tree->remove_directory(place.path));
  if (host.ledger() != nullptr) host.ledger()->removed();
  return {};
}

Reply path_unlink_file(Host& host, FdNumber fd, GuestPath path) {
  if (!host.at_work()) {
    TRY(const Place place, find_place(host, fd, path.text, Rights::kPathUnlinkFile, Change::kYes));
    TRY(volume::Removed removed, place.tree->unlink(place.path));
    return give_back(host, std::move(removed));
  }
  TRY_VOID(host.finish_work());
  return {};
}

Reply path_symlink(Host& host, GuestPath target, FdNumber fd, GuestPath path) {
  TRY_VOID(check_text(target.text));
  TRY(const Place place, find_place(host, fd, path.text, Rights::kPathSymlink, Change::kYes));
  return count(host, place.tree->make_link(target.text, place.path, host.room()));
}

Reply path_readlink(Host& host, FdNumber fd, GuestPath path, GuestBuffer to, OutPtr<uint32_t> used) {
  TRY(const Place place, find_place(host, fd, path.text, Rights::kPathReadlink, Change::kNo));
  if (place.tree == nullptr) return refuse(Errno::kInval);
  TRY(const size_t count, place.tree->read_link(place.path, to.bytes));
  used.set(static_cast<uint32_t>(count));
  return {};
}

// Both ends count as changed: a name of a read-only tree neither moves away nor becomes writable by another
// name.
Reply path_rename(Host& host, FdNumber fd, GuestPath path, FdNumber new_fd, GuestPath new_path) {
  if (host.at_work()) {  // it is done, and a file that stood in its place is being freed
    TRY_VOID(host.finish_work());
    return {};
  }
  TRY(const Place from, find_place(host, fd, path.text, Rights::kPathRenameSource, Change::kYes));
  TRY(const Place to, find_place(host, new_fd, new_path.text, Rights::kPathRenameTarget, Change::kYes));
  TRY(volume::Removed removed, from.tree->rename(from.path, *to.tree, to.path));
  return give_back(host, std::move(removed));
}

Reply path_link(Host& host, FdNumber fd, LookupFlags lookup, GuestPath path, FdNumber new_fd,
                GuestPath new_path) {
  if (lookup != LookupFlags::kNone) return refuse(Errno::kInval);
  TRY(const Place from, find_place(host, fd, path.text, Rights::kPathLinkSource, Change::kYes));
  TRY(const Place to, find_place(host, new_fd, new_path.text, Rights::kPathLinkTarget, Change::kYes));
  return count(host, from.tree->hard_link(from.path, *to.tree, to.path, host.room()));
}

}  // namespace subako::wasi
