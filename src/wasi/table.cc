#include <algorithm>
#include <array>

#include "wasi/functions.h"
#include "wasi/imports.h"

namespace subako::wasi {

namespace {

using abi::kNeverWaits;
using abi::kWaits;

template <abi::Text Name, auto F>
consteval abi::Import row(bool waits) {
  return abi::import <"wasi_snapshot_preview1", Name, F>(waits);
}

// Waits: whatever touches stdin, a tree, a sync or a clock that must pass. A guest that ran ahead of its call
// stands still at the first of these, so even one that never answers Wait by itself is suspendable.
constexpr std::array kRows{
    row<"args_get", args_get>(kNeverWaits),
    row<"args_sizes_get", args_sizes_get>(kNeverWaits),
    row<"clock_res_get", clock_res_get>(kNeverWaits),
    row<"clock_time_get", clock_time_get>(kNeverWaits),
    row<"environ_get", environ_get>(kNeverWaits),
    row<"environ_sizes_get", environ_sizes_get>(kNeverWaits),
    row<"fd_advise", fd_advise>(kNeverWaits),
    row<"fd_allocate", fd_allocate>(kWaits),
    row<"fd_close", fd_close>(kWaits),
    row<"fd_datasync", fd_datasync>(kWaits),
    row<"fd_fdstat_get", fd_fdstat_get>(kNeverWaits),
    row<"fd_fdstat_set_flags", fd_fdstat_set_flags>(kNeverWaits),
    row<"fd_fdstat_set_rights", fd_fdstat_set_rights>(kNeverWaits),
    row<"fd_filestat_get", fd_filestat_get>(kWaits),
    row<"fd_filestat_set_size", fd_filestat_set_size>(kWaits),
    row<"fd_filestat_set_times", fd_filestat_set_times>(kWaits),
    row<"fd_pread", fd_pread>(kWaits),
    row<"fd_prestat_dir_name", fd_prestat_dir_name>(kNeverWaits),
    row<"fd_prestat_get", fd_prestat_get>(kNeverWaits),
    row<"fd_pwrite", fd_pwrite>(kWaits),
    row<"fd_read", fd_read>(kWaits),
    row<"fd_readdir", fd_readdir>(kWaits),
    row<"fd_renumber", fd_renumber>(kWaits),
    row<"fd_seek", fd_seek>(kWaits),
    row<"fd_sync", fd_sync>(kWaits),
    row<"fd_tell", fd_tell>(kNeverWaits),
    row<"fd_write", fd_write>(kWaits),
    row<"path_create_directory", path_create_directory>(kWaits),
    row<"path_filestat_get", path_filestat_get>(kWaits),
    row<"path_filestat_set_times", path_filestat_set_times>(kWaits),
    row<"path_link", path_link>(kWaits),
    row<"path_open", path_open>(kWaits),
    row<"path_readlink", path_readlink>(kWaits),
    row<"path_remove_directory", path_remove_directory>(kWaits),
    row<"path_rename", path_rename>(kWaits),
    row<"path_symlink", path_symlink>(kWaits),
    row<"path_unlink_file", path_unlink_file>(kWaits),
    row<"poll_oneoff", poll_oneoff>(kWaits),
    row<"proc_exit", proc_exit>(kNeverWaits),
    row<"proc_raise", proc_raise>(kNeverWaits),
    row<"random_get", random_get>(kWaits),
    row<"sched_yield", sched_yield>(kWaits),
    row<"sock_accept", sock_accept>(kNeverWaits),
    row<"sock_recv", sock_recv>(kNeverWaits),
    row<"sock_send", sock_send>(kNeverWaits),
    row<"sock_shutdown", sock_shutdown>(kNeverWaits),
};
static_assert(kRows.size() == 46);
static_assert(std::ranges::is_sorted(kRows, {}, &abi::Import::name));
static_assert(kRows.front().module == kModule);

}  // namespace

std::span<const abi::Import> imports() {
  return kRows;
}

}  // namespace subako::wasi
