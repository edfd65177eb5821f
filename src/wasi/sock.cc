// Sockets: every function is there, and no descriptor is ever one (spec: F3).
#include "base/result.h"
#include "wasi/functions.h"

namespace subako::wasi {

namespace {

Reply no_socket(Host& host, FdNumber fd) {
  TRY_VOID(host.descriptor(fd, Rights::kNone));
  return refuse(Errno::kNotSock);
}

}  // namespace

Reply sock_accept(Host& host, FdNumber fd, FdFlags flags, OutPtr<FdNumber>) {
  if (!has_only(flags, FdFlags::kAll)) return refuse(Errno::kInval);
  return no_socket(host, fd);
}

Reply sock_recv(Host& host, FdNumber fd, Iovecs, RecvFlags flags, OutPtr<uint32_t>, OutPtr<uint16_t>) {
  if (!has_only(flags, RecvFlags::kAll)) return refuse(Errno::kInval);
  return no_socket(host, fd);
}

Reply sock_send(Host& host, FdNumber fd, Iovecs, SendFlags flags, OutPtr<uint32_t>) {
  if (!has_only(flags, SendFlags::kAll)) return refuse(Errno::kInval);
  return no_socket(host, fd);
}

Reply sock_shutdown(Host& host, FdNumber fd, ShutdownFlags how) {
  if (!has_only(how, ShutdownFlags::kAll)) return refuse(Errno::kInval);
  return no_socket(host, fd);
}

}  // namespace subako::wasi
