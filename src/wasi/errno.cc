#include <array>
#include <cerrno>

#include "wasi/types.h"

namespace subako::wasi {

namespace {

struct Row {
  int kernel;
  Errno guest;
};

constexpr std::array kRows{
    Row{E2BIG, Errno::k2Big},
    Row{EACCES, Errno::kAcces},
    Row{EADDRINUSE, Errno::kAddrInUse},
    Row{EADDRNOTAVAIL, Errno::kAddrNotAvail},
    Row{EAFNOSUPPORT, Errno::kAfNoSupport},
    Row{EAGAIN, Errno::kAgain},
    Row{EALREADY, Errno::kAlready},
    Row{EBADF, Errno::kBadf},
    Row{EBADMSG, Errno::kBadMsg},
    Row{EBUSY, Errno::kBusy},
    Row{ECANCELED, Errno::kCanceled},
    Row{ECHILD, Errno::kChild},
    Row{ECONNABORTED, Errno::kConnAborted},
    Row{ECONNREFUSED, Errno::kConnRefused},
    Row{ECONNRESET, Errno::kConnReset},
    Row{EDEADLK, Errno::kDeadlk},
    Row{EDESTADDRREQ, Errno::kDestAddrReq},
    Row{EDOM, Errno::kDom},
    Row{EDQUOT, Errno::kDquot},
    Row{EEXIST, Errno::kExist},
    Row{EFAULT, Errno::kFault},
    Row{EFBIG, Errno::kFbig},
    Row{EHOSTUNREACH, Errno::kHostUnreach},
    Row{EIDRM, Errno::kIdrm},
    Row{EILSEQ, Errno::kIlseq},
    Row{EINPROGRESS, Errno::kInProgress},
    Row{EINTR, Errno::kIntr},
    Row{EINVAL, Errno::kInval},
    Row{EIO, Errno::kIo},
    Row{EISCONN, Errno::kIsConn},
    Row{EISDIR, Errno::kIsDir},
    Row{ELOOP, Errno::kLoop},
    Row{EMFILE, Errno::kMfile},
    Row{EMLINK, Errno::kMlink},
    Row{EMSGSIZE, Errno::kMsgSize},
    Row{EMULTIHOP, Errno::kMultiHop},
    Row{ENAMETOOLONG, Errno::kNameTooLong},
    Row{ENETDOWN, Errno::kNetDown},
    Row{ENETRESET, Errno::kNetReset},
    Row{ENETUNREACH, Errno::kNetUnreach},
    Row{ENFILE, Errno::kNfile},
    Row{ENOBUFS, Errno::kNoBufs},
    Row{ENODEV, Errno::kNoDev},
    Row{ENOENT, Errno::kNoEnt},
    Row{ENOEXEC, Errno::kNoExec},
    Row{ENOLCK, Errno::kNoLck},
    Row{ENOLINK, Errno::kNoLink},
    Row{ENOMEM, Errno::kNoMem},
    Row{ENOMSG, Errno::kNoMsg},
    Row{ENOPROTOOPT, Errno::kNoProtoOpt},
    Row{ENOSPC, Errno::kNoSpc},
    Row{ENOSYS, Errno::kNoSys},
    Row{ENOTCONN, Errno::kNotConn},
    Row{ENOTDIR, Errno::kNotDir},
    Row{ENOTEMPTY, Errno::kNotEmpty},
    Row{ENOTRECOVERABLE, Errno::kNotRecoverable},
    Row{ENOTSOCK, Errno::kNotSock},
    Row{ENOTSUP, Errno::kNotSup},
    Row{ENOTTY, Errno::kNotTty},
    Row{ENXIO, Errno::kNxio},
    Row{EOVERFLOW, Errno::kOverflow},
    Row{EOWNERDEAD, Errno::kOwnerDead},
    Row{EPERM, Errno::kPerm},
    Row{EPIPE, Errno::kPipe},
    Row{EPROTO, Errno::kProto},
    Row{EPROTONOSUPPORT, Errno::kProtoNoSupport},
    Row{EPROTOTYPE, Errno::kPrototype},
    Row{ERANGE, Errno::kRange},
    Row{EROFS, Errno::kRofs},
    Row{ESPIPE, Errno::kSpipe},
    Row{ESRCH, Errno::kSrch},
    Row{ESTALE, Errno::kStale},
    Row{ETIMEDOUT, Errno::kTimedOut},
    Row{ETXTBSY, Errno::kTxtBsy},
    Row{EXDEV, Errno::kXdev},
};

}  // namespace

Errno errno_of(std::errc error) {
  for (const Row& row : kRows) {
    if (row.kernel == static_cast<int>(error)) return row.guest;
  }
  return Errno::kIo;
}

}  // namespace subako::wasi
