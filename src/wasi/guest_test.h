// For tests: a guest without an engine. A page of memory, a call by name with raw words, and the world that
// it meets: temporary directories, a clock that stands still and streams that are strings.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "volume/scratch_test.h"
#include "wasi/host.h"
#include "wasi/imports.h"
#include "wasi/types.h"

namespace subako::wasi {

struct StillClock final : Clock {
  Nanoseconds now = 1'000'000;
  Nanoseconds wall = 1'700'000'000'000'000'000;
  [[nodiscard]] Nanoseconds monotonic() const override { return now; }
  [[nodiscard]] Nanoseconds realtime() const override { return wall; }
};

struct StringStdio final : Stdio {
  std::string input;
  bool closed = false;
  std::string output;
  std::string errors;
  size_t output_room = 1 << 20;

  size_t read_stdin(std::span<std::byte> to) override {
    const size_t count = std::min(to.size(), input.size());
    std::memcpy(to.data(), input.data(), count);
    input.erase(0, count);
    return count;
  }
  [[nodiscard]] size_t stdin_available() const override { return input.size(); }
  [[nodiscard]] bool stdin_closed() const override { return closed; }
  bool write_stdout(std::span<const std::byte> bytes) override {
    output.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return output.size() <= output_room;
  }
  void write_stderr(std::span<const std::byte> bytes) override {
    errors.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
};

// Does tasks on the spot, or once the test says so.
struct HeldTasks final : Blocking {
  bool hold = false;
  std::vector<std::shared_ptr<BlockingTask>> held;
  int done = 0;

  void hand_over(std::shared_ptr<BlockingTask> task) override {
    held.push_back(std::move(task));
    if (!hold) run();
  }
  void run() {
    for (const auto& task : std::exchange(held, {})) {
      task->run();
      ++done;
    }
  }
};

inline std::string errno_name(uint32_t value) {
  static constexpr std::array kNames{
      "SUCCESS",     "2BIG",           "ACCES",       "ADDRINUSE",   "ADDRNOTAVAIL",
      "AFNOSUPPORT", "AGAIN",          "ALREADY",     "BADF",        "BADMSG",
      "BUSY",        "CANCELED",       "CHILD",       "CONNABORTED", "CONNREFUSED",
      "CONNRESET",   "DEADLK",         "DESTADDRREQ", "DOM",         "DQUOT",
      "EXIST",       "FAULT",          "FBIG",        "HOSTUNREACH", "IDRM",
      "ILSEQ",       "INPROGRESS",     "INTR",        "INVAL",       "IO",
      "ISCONN",      "ISDIR",          "LOOP",        "MFILE",       "MLINK",
      "MSGSIZE",     "MULTIHOP",       "NAMETOOLONG", "NETDOWN",     "NETRESET",
      "NETUNREACH",  "NFILE",          "NOBUFS",      "NODEV",       "NOENT",
      "NOEXEC",      "NOLCK",          "NOLINK",      "NOMEM",       "NOMSG",
      "NOPROTOOPT",  "NOSPC",          "NOSYS",       "NOTCONN",     "NOTDIR",
      "NOTEMPTY",    "NOTRECOVERABLE", "NOTSOCK",     "NOTSUP",      "NOTTY",
      "NXIO",        "OVERFLOW",       "OWNERDEAD",   "PERM",        "PIPE",
      "PROTO",       "PROTONOSUPPORT", "PROTOTYPE",   "RANGE",       "ROFS",
      "SPIPE",       "SRCH",           "STALE",       "TIMEDOUT",    "TXTBSY",
      "XDEV",        "NOTCAPABLE"};
  return value < kNames.size() ? kNames[value] : std::to_string(value);
}

// "SUCCESS" or another errno's name, "EXIT 3", "HALT", "WAIT", or "TRAP <message>".
inline std::string shown(const abi::Answer<uint32_t>& answer) {
  if (answer) return errno_name(*answer);
  if (const auto* trap = std::get_if<abi::Trap>(&answer.error())) return "TRAP " + trap->message;
  if (const auto* exit = std::get_if<abi::Exit>(&answer.error())) return "EXIT " + std::to_string(exit->code);
  return std::holds_alternative<abi::Halt>(answer.error()) ? "HALT" : "WAIT";
}

// Where the descriptors of the preopens stand.
inline constexpr uint64_t kTmp = 3, kData = 4, kPackage = 5, kSkills = 6, kSkillA = 7, kSkillB = 8;

class Guest : public ::testing::Test {
 protected:
  explicit Guest(bool bound = true, uint64_t budget = limits::kWrittenBytes)
      : host({.arguments = {"pack"},
              .preopens = {{"/volume/tmp", true},
                           {"/volume/data", true},
                           {"/package"},
                           {"/skills", false, false},
                           {"/skills/a"},
                           {"/skills/b"}},
              .write_budget = budget},
             clock, stdio, blocking) {
    for (const char* name : {"tmp", "data", "package", "a", "b"}) disk.directory(name);
    disk.file("package/f", "read only");
    disk.file("a/SKILL.md", "skill a");
    disk.file("b/SKILL.md", "skill b");
    if (bound) bind();
  }
  void bind() {
    size_t index = 0;
    for (const char* name : {"tmp", "data", "package", "", "a", "b"}) {
      if (*name != '\0') host.bind(index, disk.open(name));
      ++index;
    }
  }

  abi::Answer<uint32_t> raw(std::string_view name, const std::vector<uint64_t>& words) {
    const abi::Import* import = abi::find(imports(), name);
    EXPECT_NE(import, nullptr) << name;
    EXPECT_EQ(import->type.param_count, words.size()) << name;
    return import->call(&host, abi::GuestMemory(memory), words);
  }
  std::string call(std::string_view name, const std::vector<uint64_t>& words) {
    return shown(raw(name, words));
  }

  void put(uint64_t at, const void* bytes, size_t size) { std::memcpy(&memory.at(at), bytes, size); }
  template <class T>
  void put(uint64_t at, const T& value) {
    put(at, &value, sizeof value);
  }
  template <class T>
  T get(uint64_t at) {
    T value;
    std::memcpy(&value, &memory.at(at), sizeof value);
    return value;
  }
  std::string text(uint64_t at, size_t size) {
    return {reinterpret_cast<const char*>(memory.data()) + at, size};
  }
  // Writes one iovec at `at`.
  void iovec(uint64_t at, uint32_t pointer, uint32_t length) {
    put(at, pointer);
    put(at + 4, length);
  }

  // Shorthands. Paths lie at 1000 and 6000, results at 100, buffers at 20000.
  void path(std::string_view name, uint64_t at = 1000) {
    std::memcpy(&memory.at(at), name.data(), name.size());
  }
  std::string on_path(std::string_view function, uint64_t fd, std::string_view name) {
    path(name);
    return call(function, {fd, 1000, name.size()});
  }
  std::string open(std::string_view name, uint64_t rights = kRead, uint64_t oflags = 0, uint64_t fd = kTmp,
                   uint64_t follow = 0, uint64_t fdflags = 0) {
    path(name);
    return call("path_open", {fd, follow, 1000, name.size(), oflags, rights, 0, fdflags, 100});
  }
  uint64_t opened(std::string_view name, uint64_t rights = kRead, uint64_t oflags = 0, uint64_t fd = kTmp,
                  uint64_t fdflags = 0) {
    EXPECT_EQ(open(name, rights, oflags, fd, 0, fdflags), "SUCCESS") << name;
    return get<uint32_t>(100);
  }
  std::string two_paths(std::string_view function, uint64_t fd, std::string_view from, uint64_t to_fd,
                        std::string_view to) {
    path(from);
    path(to, 6000);
    if (function == "path_link") return call(function, {fd, 0, 1000, from.size(), to_fd, 6000, to.size()});
    return call(function, {fd, 1000, from.size(), to_fd, 6000, to.size()});
  }
  std::string symlink(std::string_view target, std::string_view name, uint64_t fd = kTmp) {
    path(target);
    path(name, 6000);
    return call("path_symlink", {1000, target.size(), fd, 6000, name.size()});
  }
  std::string write(uint64_t fd, std::string_view bytes) {
    std::memcpy(&memory.at(20000), bytes.data(), bytes.size());
    iovec(200, 20000, static_cast<uint32_t>(bytes.size()));
    return call("fd_write", {fd, 200, 1, 100});
  }
  // The bytes read, or the error.
  std::string read(uint64_t fd, uint32_t most = 1000) {
    iovec(200, 20000, most);
    const std::string answer = call("fd_read", {fd, 200, 1, 100});
    return answer == "SUCCESS" ? text(20000, get<uint32_t>(100)) : answer;
  }

  static constexpr uint64_t kRead = 2, kWrite = 64, kReadWrite = 66;
  static constexpr uint64_t kCreat = 1, kDirectory = 2, kExcl = 4, kTrunc = 8;
  static constexpr uint64_t kAppend = 1, kNonblock = 4;

  volume::Scratch disk;
  StillClock clock;
  StringStdio stdio;
  HeldTasks blocking;
  Host host;
  std::vector<std::byte> memory = std::vector<std::byte>(65536);
};

}  // namespace subako::wasi
