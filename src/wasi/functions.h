// The 46 functions of WASI preview 1, each a free function named as its import, with its parameters in their
// order (spec: F2). Pointers are checked before a body runs (abi/arguments.h). One .cc for each topic;
// table.cc makes them imports.
#pragma once

#include <cstdint>

#include "abi/arguments.h"
#include "wasi/host.h"
#include "wasi/reply.h"
#include "wasi/types.h"

namespace subako::wasi {

using abi::GuestArray;
using abi::GuestBuffer;
using abi::GuestMemory;
using abi::GuestPath;
using abi::Iovecs;
using abi::OutPtr;

// args.cc (spec: C2)
Reply args_get(Host& host, GuestMemory memory, uint32_t pointers, uint32_t text);
Reply args_sizes_get(Host& host, OutPtr<uint32_t> count, OutPtr<uint32_t> bytes);
Reply environ_get(Host& host, GuestMemory memory, uint32_t pointers, uint32_t text);
Reply environ_sizes_get(Host& host, OutPtr<uint32_t> count, OutPtr<uint32_t> bytes);

// clock.cc
Reply clock_res_get(Host& host, ClockId id, OutPtr<uint64_t> nanoseconds);
Reply clock_time_get(Host& host, ClockId id, uint64_t precision, OutPtr<uint64_t> nanoseconds);

// fd.cc
Reply fd_advise(Host& host, FdNumber fd, uint64_t offset, uint64_t length, Advice advice);
Reply fd_allocate(Host& host, FdNumber fd, uint64_t offset, uint64_t length);
Reply fd_close(Host& host, FdNumber fd);
Reply fd_datasync(Host& host, FdNumber fd);
Reply fd_fdstat_get(Host& host, FdNumber fd, OutPtr<Fdstat> stat);
Reply fd_fdstat_set_flags(Host& host, FdNumber fd, FdFlags flags);
Reply fd_fdstat_set_rights(Host& host, FdNumber fd, Rights base, Rights inheriting);
Reply fd_prestat_get(Host& host, FdNumber fd, OutPtr<Prestat> prestat);
Reply fd_prestat_dir_name(Host& host, FdNumber fd, GuestBuffer name);
Reply fd_renumber(Host& host, FdNumber from, FdNumber to);
Reply fd_sync(Host& host, FdNumber fd);

// filestat.cc
Reply fd_filestat_get(Host& host, FdNumber fd, OutPtr<Filestat> stat);
Reply fd_filestat_set_size(Host& host, FdNumber fd, uint64_t size);
Reply fd_filestat_set_times(Host& host, FdNumber fd, uint64_t accessed, uint64_t modified, TimeFlags flags);
Reply path_filestat_get(Host& host, FdNumber fd, LookupFlags lookup, GuestPath path, OutPtr<Filestat> stat);
Reply path_filestat_set_times(Host& host, FdNumber fd, LookupFlags lookup, GuestPath path, uint64_t accessed,
                              uint64_t modified, TimeFlags flags);

// io.cc
Reply fd_pread(Host& host, FdNumber fd, Iovecs to, uint64_t offset, OutPtr<uint32_t> count);
Reply fd_pwrite(Host& host, FdNumber fd, Iovecs from, uint64_t offset, OutPtr<uint32_t> count);
Reply fd_read(Host& host, FdNumber fd, Iovecs to, OutPtr<uint32_t> count);
Reply fd_seek(Host& host, FdNumber fd, int64_t delta, Whence whence, OutPtr<uint64_t> offset);
Reply fd_tell(Host& host, FdNumber fd, OutPtr<uint64_t> offset);
Reply fd_write(Host& host, FdNumber fd, Iovecs from, OutPtr<uint32_t> count);

// dir.cc
Reply fd_readdir(Host& host, FdNumber fd, GuestBuffer to, uint64_t cookie, OutPtr<uint32_t> used);

// path.cc
Reply path_create_directory(Host& host, FdNumber fd, GuestPath path);
Reply path_link(Host& host, FdNumber fd, LookupFlags lookup, GuestPath path, FdNumber new_fd,
                GuestPath new_path);
Reply path_readlink(Host& host, FdNumber fd, GuestPath path, GuestBuffer to, OutPtr<uint32_t> used);
Reply path_remove_directory(Host& host, FdNumber fd, GuestPath path);
Reply path_rename(Host& host, FdNumber fd, GuestPath path, FdNumber new_fd, GuestPath new_path);
Reply path_symlink(Host& host, GuestPath target, FdNumber fd, GuestPath path);
Reply path_unlink_file(Host& host, FdNumber fd, GuestPath path);

// path_open.cc
Reply path_open(Host& host, FdNumber fd, LookupFlags lookup, GuestPath path, OpenFlags open, Rights base,
                Rights inheriting, FdFlags flags, OutPtr<FdNumber> opened);

// poll.cc
Reply poll_oneoff(Host& host, GuestMemory memory, uint32_t subscriptions, uint32_t events, uint32_t count,
                  OutPtr<uint32_t> happened);
Reply sched_yield(Host& host);

// proc.cc
abi::Answer<void> proc_exit(Host& host, uint32_t code);
Reply proc_raise(Host& host, Signal signal);

// random.cc
Reply random_get(Host& host, GuestBuffer to);

// sock.cc (spec: F3)
Reply sock_accept(Host& host, FdNumber fd, FdFlags flags, OutPtr<FdNumber> accepted);
Reply sock_recv(Host& host, FdNumber fd, Iovecs to, RecvFlags flags, OutPtr<uint32_t> count,
                OutPtr<uint16_t> out_flags);
Reply sock_send(Host& host, FdNumber fd, Iovecs from, SendFlags flags, OutPtr<uint32_t> count);
Reply sock_shutdown(Host& host, FdNumber fd, ShutdownFlags how);

}  // namespace subako::wasi
