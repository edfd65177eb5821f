// Bytes in and out of files and streams (spec: F2, F4, F5). No call moves more than limits::kHostCallBytes: short
// counts are the guest's to go on from.
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/limits.h"
#include "base/result.h"
#include "wasi/functions.h"

namespace subako::wasi {

namespace {

// The first buffers that aren't empty, as the kernel wants them. What doesn't fit is left for the guest's
// next call.
struct Gathered {
  std::array<iovec, 64> list;
  int count = 0;
  uint64_t bytes = 0;
};

Gathered gather(const Iovecs& iovecs, uint64_t most) {
  Gathered all;
  iovecs.for_each(most, [&all](std::span<std::byte> bytes) {
    all.list[static_cast<size_t>(all.count++)] = {bytes.data(), bytes.size()};
    all.bytes += bytes.size();
    return static_cast<size_t>(all.count) < all.list.size();
  });
  return all;
}

Try<uint64_t> size_of(const File& file) {
  struct stat now{};
  if (::fstat(file.fd.get(), &now) != 0) return refuse(last_error());
  return static_cast<uint64_t>(now.st_size);
}

Try<uint32_t> read_at(const File& file, const Iovecs& to, uint64_t offset) {
  if (to.too_many() || offset > INT64_MAX) return refuse(Errno::kInval);
  const Gathered into = gather(to, limits::kHostCallBytes);
  const ssize_t count = ::preadv(file.fd.get(), into.list.data(), into.count, static_cast<off_t>(offset));
  if (count < 0) return refuse(last_error());
  return static_cast<uint32_t>(count);
}

struct Written {
  uint32_t count = 0;
  uint64_t end = 0;  // the offset behind the last byte
};

// An appending file is written at its end wherever `offset` is, by pwrite too, as on Linux.
Try<Written> write_at(Host& host, File& file, FdFlags flags, const Iovecs& from, uint64_t offset) {
  if (from.too_many() || offset > INT64_MAX) return refuse(Errno::kInval);
  TRY(const uint64_t size, size_of(file));
  if (has(flags, FdFlags::kAppend)) offset = size;
  Gathered bytes = gather(from, limits::kHostCallBytes);
  if (bytes.bytes == 0) return Written{0, offset};
  file.fd.settle(size);
  TRY(const uint64_t allowed, host.may_write(offset, size, bytes.bytes));
  if (allowed < bytes.bytes) bytes = gather(from, allowed);
  const ssize_t count = ::pwritev(file.fd.get(), bytes.list.data(), bytes.count, static_cast<off_t>(offset));
  if (count < 0) return refuse(last_error());
  const uint64_t end = offset + static_cast<uint64_t>(count);
  host.budget().charge_write(offset, size, static_cast<uint64_t>(count));
  if (count > 0) file.fd.settle(std::max(size, end));
  return Written{static_cast<uint32_t>(count), end};
}

// A file that was opened so promises of each write that it has reached the disk.
bool is_synchronised(FdFlags flags) {
  return (flags & (FdFlags::kDsync | FdFlags::kSync | FdFlags::kRsync)) != FdFlags::kNone;
}

void begin_sync(Host& host, const File& file, FdFlags flags, uint32_t written) {
  const auto call = (flags & (FdFlags::kSync | FdFlags::kRsync)) != FdFlags::kNone ? ::fsync : ::fdatasync;
  host.begin_work([fd = file.fd.get(), call](const auto&) { return call(fd) == 0 ? std::errc{} : last_error(); },
                  {.done = written});
}

// A synchronised write whose bytes are written: its count is told when they have reached the disk.
Reply finish_sync(Host& host, const OutPtr<uint32_t>& count) {
  TRY(const Progress written, host.finish_work());
  count.set(static_cast<uint32_t>(written.done));
  return {};
}

Try<uint32_t> read_stdin(Host& host, FdFlags flags, const Iovecs& to) {
  if (to.too_many()) return refuse(Errno::kInval);
  uint32_t total = 0;
  bool wanted = false;
  to.for_each(limits::kHostCallBytes, [&](std::span<std::byte> bytes) {
    wanted = true;
    const size_t count = host.stdio().read_stdin(bytes);
    total += static_cast<uint32_t>(count);
    return count == bytes.size();
  });
  if (total > 0 || !wanted || host.stdio().stdin_closed()) return total;
  if (has(flags, FdFlags::kNonblock)) return refuse(Errno::kAgain);
  return refuse(host.wait({.at = std::nullopt, .stdin = true, .now = false}));
}

Try<uint32_t> write_output(Host& host, Stream stream, const Iovecs& from) {
  if (from.too_many()) return refuse(Errno::kInval);
  uint32_t total = 0;
  bool goes_on = true;
  from.for_each(limits::kHostCallBytes, [&](std::span<std::byte> bytes) {
    if (stream == Stream::kStdout) {
      goes_on = host.stdio().write_stdout(bytes);
    } else {
      host.stdio().write_stderr(bytes);
    }
    total += static_cast<uint32_t>(bytes.size());
    return goes_on;
  });
  if (!goes_on) return refuse(abi::Halt{});
  return total;
}

}  // namespace

Reply fd_read(Host& host, FdNumber fd, Iovecs to, OutPtr<uint32_t> count) {
  TRY(Descriptor * found, host.descriptor(fd, Rights::kFdRead));
  if (found->stream() != nullptr) {
    TRY(const uint32_t read, read_stdin(host, found->flags, to));
    count.set(read);
    return {};
  }
  TRY(File * file, host.file(fd, Rights::kFdRead));
  TRY(const uint32_t read, read_at(*file, to, file->offset));
  file->offset += read;
  count.set(read);
  return {};
}

Reply fd_write(Host& host, FdNumber fd, Iovecs from, OutPtr<uint32_t> count) {
  if (host.at_work()) return finish_sync(host, count);
  TRY(Descriptor * found, host.descriptor(fd, Rights::kFdWrite));
  if (const Stream* stream = found->stream()) {
    TRY(const uint32_t written, write_output(host, *stream, from));
    count.set(written);
    return {};
  }
  TRY(File * file, host.file(fd, Rights::kFdWrite));
  const FdFlags flags = found->flags;
  TRY(const Written written, write_at(host, *file, flags, from, file->offset));
  if (written.count > 0) file->offset = written.end;
  if (written.count == 0 || !is_synchronised(flags)) {
    count.set(written.count);
    return {};
  }
  begin_sync(host, *file, flags, written.count);
  return finish_sync(host, count);
}

Reply fd_pread(Host& host, FdNumber fd, Iovecs to, uint64_t offset, OutPtr<uint32_t> count) {
  TRY(File * file, host.file(fd, Rights::kFdRead, Errno::kSpipe));
  TRY(const uint32_t read, read_at(*file, to, offset));
  count.set(read);
  return {};
}

Reply fd_pwrite(Host& host, FdNumber fd, Iovecs from, uint64_t offset, OutPtr<uint32_t> count) {
  if (host.at_work()) return finish_sync(host, count);
  TRY(File * file, host.file(fd, Rights::kFdWrite, Errno::kSpipe));
  const FdFlags flags = host.descriptors().find(fd)->flags;
  TRY(const Written written, write_at(host, *file, flags, from, offset));
  if (written.count == 0 || !is_synchronised(flags)) {
    count.set(written.count);
    return {};
  }
  begin_sync(host, *file, flags, written.count);
  return finish_sync(host, count);
}

Reply fd_seek(Host& host, FdNumber fd, int64_t delta, Whence whence, OutPtr<uint64_t> offset) {
  // Asking where one stands needs no right to move.
  const bool tells = whence == Whence::kCur && delta == 0;
  TRY(File * file, host.file(fd, tells ? Rights::kFdTell : Rights::kFdSeek, Errno::kSpipe));
  uint64_t base = 0;
  switch (whence) {
    case Whence::kSet:
      break;
    case Whence::kCur:
      base = file->offset;
      break;
    case Whence::kEnd: {
      TRY(base, size_of(*file));
      break;
    }
    default:
      return refuse(Errno::kInval);
  }
  int64_t moved = 0;
  if (__builtin_add_overflow(static_cast<int64_t>(base), delta, &moved) || moved < 0)
    return refuse(Errno::kInval);
  file->offset = static_cast<uint64_t>(moved);
  offset.set(file->offset);
  return {};
}

Reply fd_tell(Host& host, FdNumber fd, OutPtr<uint64_t> offset) {
  TRY(const File* file, host.file(fd, Rights::kFdTell, Errno::kSpipe));
  offset.set(file->offset);
  return {};
}

}  // namespace subako::wasi
