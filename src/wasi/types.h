// The numbers and layouts of WASI preview 1 (wasi_snapshot_preview1.witx): what guests and host agree on,
// byte for byte.
//
// Flags and enums travel as an i32; they are taken as 32 bits wide so that no unknown bit is dropped unseen,
// and checked by has_only() or a switch: an unknown one is Errno::kInval (spec: F2). Layouts name their
// padding, which is always written as zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <type_traits>

namespace subako::wasi {

// clang-format off
enum class Errno : uint16_t {
  kSuccess = 0, k2Big = 1, kAcces = 2, kAddrInUse = 3, kAddrNotAvail = 4, kAfNoSupport = 5, kAgain = 6, kAlready = 7,
  kBadf = 8, kBadMsg = 9, kBusy = 10, kCanceled = 11, kChild = 12, kConnAborted = 13, kConnRefused = 14, kConnReset = 15,
  kDeadlk = 16, kDestAddrReq = 17, kDom = 18, kDquot = 19, kExist = 20, kFault = 21, kFbig = 22, kHostUnreach = 23,
  kIdrm = 24, kIlseq = 25, kInProgress = 26, kIntr = 27, kInval = 28, kIo = 29, kIsConn = 30, kIsDir = 31, kLoop = 32,
  kMfile = 33, kMlink = 34, kMsgSize = 35, kMultiHop = 36, kNameTooLong = 37, kNetDown = 38, kNetReset = 39,
  kNetUnreach = 40, kNfile = 41, kNoBufs = 42, kNoDev = 43, kNoEnt = 44, kNoExec = 45, kNoLck = 46, kNoLink = 47,
  kNoMem = 48, kNoMsg = 49, kNoProtoOpt = 50, kNoSpc = 51, kNoSys = 52, kNotConn = 53, kNotDir = 54, kNotEmpty = 55,
  kNotRecoverable = 56, kNotSock = 57, kNotSup = 58, kNotTty = 59, kNxio = 60, kOverflow = 61, kOwnerDead = 62,
  kPerm = 63, kPipe = 64, kProto = 65, kProtoNoSupport = 66, kPrototype = 67, kRange = 68, kRofs = 69, kSpipe = 70,
  kSrch = 71, kStale = 72, kTimedOut = 73, kTxtBsy = 74, kXdev = 75, kNotCapable = 76,
};

// The guest's number for an error of the kernel; kIo for one that WASI doesn't know.
[[nodiscard]] Errno errno_of(std::errc error);

// A guest's descriptor number. The host's are int, or an Fd.
enum class FdNumber : uint32_t {};

enum class Rights : uint64_t {
  kNone = 0,
  kFdDatasync = 1U << 0U, kFdRead = 1U << 1U, kFdSeek = 1U << 2U, kFdFdstatSetFlags = 1U << 3U, kFdSync = 1U << 4U,
  kFdTell = 1U << 5U, kFdWrite = 1U << 6U, kFdAdvise = 1U << 7U, kFdAllocate = 1U << 8U, kPathCreateDirectory = 1U << 9U,
  kPathCreateFile = 1U << 10U, kPathLinkSource = 1U << 11U, kPathLinkTarget = 1U << 12U, kPathOpen = 1U << 13U,
  kFdReaddir = 1U << 14U, kPathReadlink = 1U << 15U, kPathRenameSource = 1U << 16U, kPathRenameTarget = 1U << 17U,
  kPathFilestatGet = 1U << 18U, kPathFilestatSetSize = 1U << 19U, kPathFilestatSetTimes = 1U << 20U,
  kFdFilestatGet = 1U << 21U, kFdFilestatSetSize = 1U << 22U, kFdFilestatSetTimes = 1U << 23U, kPathSymlink = 1U << 24U,
  kPathRemoveDirectory = 1U << 25U, kPathUnlinkFile = 1U << 26U, kPollFdReadwrite = 1U << 27U, kSockShutdown = 1U << 28U,
  kSockAccept = 1U << 29U,
  kAll = (1U << 30U) - 1U,
};

enum class FdFlags : uint32_t { kNone = 0, kAppend = 1, kDsync = 2, kNonblock = 4, kRsync = 8, kSync = 16, kAll = 31 };
enum class OpenFlags : uint32_t { kNone = 0, kCreat = 1, kDirectory = 2, kExcl = 4, kTrunc = 8, kAll = 15 };
enum class LookupFlags : uint32_t { kNone = 0, kSymlinkFollow = 1, kAll = 1 };
enum class TimeFlags : uint32_t { kNone = 0, kAtim = 1, kAtimNow = 2, kMtim = 4, kMtimNow = 8, kAll = 15 };
enum class ClockFlags : uint16_t { kNone = 0, kAbstime = 1, kAll = 1 };
enum class EventFlags : uint16_t { kNone = 0, kHangup = 1 };
enum class RecvFlags : uint32_t { kNone = 0, kPeek = 1, kWaitall = 2, kAll = 3 };
enum class SendFlags : uint32_t { kNone = 0, kAll = 0 };
enum class ShutdownFlags : uint32_t { kNone = 0, kRead = 1, kWrite = 2, kAll = 3 };

// clang-format on

enum class ClockId : uint32_t { kRealtime = 0, kMonotonic = 1, kProcessCpu = 2, kThreadCpu = 3 };
enum class Whence : uint32_t { kSet = 0, kCur = 1, kEnd = 2 };
enum class Signal : uint32_t { kNone = 0, kSys = 30 };
enum class Advice : uint32_t { kNormal = 0, kNoReuse = 5 };
enum class FileType : uint8_t {
  kUnknown = 0,
  kBlock = 1,
  kCharacter = 2,
  kDirectory = 3,
  kRegular = 4,
  kDatagram = 5,
  kStream = 6,
  kSymbolicLink = 7
};
enum class EventType : uint8_t { kClock = 0, kFdRead = 1, kFdWrite = 2 };

template <class F>
concept Flags = std::is_enum_v<F> && requires { F::kNone; };

template <Flags F>
constexpr F operator|(F a, F b) {
  return static_cast<F>(static_cast<std::underlying_type_t<F>>(a) |
                        static_cast<std::underlying_type_t<F>>(b));
}
template <Flags F>
constexpr F operator&(F a, F b) {
  return static_cast<F>(static_cast<std::underlying_type_t<F>>(a) &
                        static_cast<std::underlying_type_t<F>>(b));
}
template <Flags F>
constexpr F without(F from, F what) {
  return static_cast<F>(static_cast<std::underlying_type_t<F>>(from) &
                        ~static_cast<std::underlying_type_t<F>>(what));
}
template <Flags F>
constexpr bool has(F flags, F all_of) {
  return (flags & all_of) == all_of;
}
template <Flags F>
constexpr bool has_only(F flags, F allowed) {
  return without(flags, allowed) == F::kNone;
}

struct Prestat {
  uint8_t tag = 0;  // 0: a directory, the only kind
  uint8_t padding[3] = {};
  uint32_t name_length = 0;
};
static_assert(sizeof(Prestat) == 8 && alignof(Prestat) == 4 && offsetof(Prestat, name_length) == 4);

struct Fdstat {
  FileType filetype = FileType::kUnknown;
  uint8_t padding1 = 0;
  uint16_t flags = 0;
  uint32_t padding2 = 0;
  Rights base = Rights::kNone;
  Rights inheriting = Rights::kNone;
};
static_assert(sizeof(Fdstat) == 24 && alignof(Fdstat) == 8 && offsetof(Fdstat, flags) == 2 &&
              offsetof(Fdstat, base) == 8 && offsetof(Fdstat, inheriting) == 16);

struct Filestat {
  uint64_t device = 0;
  uint64_t inode = 0;
  FileType filetype = FileType::kUnknown;
  uint8_t padding[7] = {};
  uint64_t links = 0;
  uint64_t size = 0;
  uint64_t accessed = 0;  // nanoseconds since 1970
  uint64_t modified = 0;
  uint64_t changed = 0;
};
static_assert(sizeof(Filestat) == 64 && alignof(Filestat) == 8 && offsetof(Filestat, filetype) == 16 &&
              offsetof(Filestat, links) == 24 && offsetof(Filestat, changed) == 56);

struct Dirent {
  uint64_t next = 0;  // the cookie of the entry after this one
  uint64_t inode = 0;
  uint32_t name_length = 0;
  FileType filetype = FileType::kUnknown;
  uint8_t padding[3] = {};
};
static_assert(sizeof(Dirent) == 24 && offsetof(Dirent, inode) == 8 && offsetof(Dirent, name_length) == 16 &&
              offsetof(Dirent, filetype) == 20);

struct Subscription {
  uint64_t userdata = 0;
  uint8_t tag = 0;  // an EventType
  uint8_t padding1[7] = {};
  uint32_t clock_or_fd = 0;
  uint32_t padding2 = 0;
  uint64_t timeout = 0;
  uint64_t precision = 0;
  ClockFlags flags = ClockFlags::kNone;
  uint8_t padding3[6] = {};
};
static_assert(sizeof(Subscription) == 48 && alignof(Subscription) == 8 && offsetof(Subscription, tag) == 8 &&
              offsetof(Subscription, clock_or_fd) == 16 && offsetof(Subscription, timeout) == 24 &&
              offsetof(Subscription, precision) == 32 && offsetof(Subscription, flags) == 40);

struct Event {
  uint64_t userdata = 0;
  Errno error = Errno::kSuccess;
  EventType type = EventType::kClock;
  uint8_t padding1[5] = {};
  uint64_t bytes = 0;
  EventFlags flags = EventFlags::kNone;
  uint8_t padding2[6] = {};
};
static_assert(sizeof(Event) == 32 && alignof(Event) == 8 && offsetof(Event, error) == 8 &&
              offsetof(Event, type) == 10 && offsetof(Event, bytes) == 16 && offsetof(Event, flags) == 24);

}  // namespace subako::wasi
