// What a fuzzed guest of WASI meets, as src/wasi/guest_test.h has it for tests: directories on the disk that
// are put back after each run, a clock that moves when it is told to, streams that are strings.
//
// A run must leave everything outside the writable trees as it was. There lie a file and a directory whose
// names and content hold the mark, some bytes that no input can hold, so that they are known wherever they
// come up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "wasi/host.h"

namespace subako::fuzz {

struct HeldClock final : Clock {
  Nanoseconds now = 1'000'000;
  Nanoseconds wall = 1'700'000'000'000'000'000;
  [[nodiscard]] Nanoseconds monotonic() const override { return now; }
  [[nodiscard]] Nanoseconds realtime() const override { return wall; }
};

// Does a guest's tasks when it is told to, so that each is waited for.
struct Tasks final : wasi::Blocking {
  std::vector<std::shared_ptr<wasi::BlockingTask>> held;

  void hand_over(std::shared_ptr<wasi::BlockingTask> task) override { held.push_back(std::move(task)); }
  void run() {
    for (const auto& task : std::exchange(held, {})) task->run();
  }
};

struct Streams final : wasi::Stdio {
  std::string input;
  bool closed = false;
  size_t written = 0;
  size_t room = size_t{1} << 20;

  size_t read_stdin(std::span<std::byte> to) override {
    const size_t count = std::min(to.size(), input.size());
    if (count > 0) std::memcpy(to.data(), input.data(), count);
    input.erase(0, count);
    return count;
  }
  [[nodiscard]] size_t stdin_available() const override { return input.size(); }
  [[nodiscard]] bool stdin_closed() const override { return closed; }
  bool write_stdout(std::span<const std::byte> bytes) override {
    written += bytes.size();
    return written <= room;
  }
  void write_stderr(std::span<const std::byte>) override {}
};

// A folder of the host that goes with its object. What is beneath it is told as text, so that two states can
// be compared: of each entry its name, type, inode, links, size, times, and what a small file or a link
// holds.
class Folder {
 public:
  Folder();  // its name ends with mark()
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string_view mark() const { return mark_; }
  [[nodiscard]] bool holds_mark(std::span<const std::byte> bytes) const;

  [[nodiscard]] std::string at(std::string_view path) const { return root_ + "/" + std::string(path); }
  void directory(std::string_view path) const;
  void file(std::string_view path, std::string_view text) const;
  void link(std::string_view path, std::string_view target) const;
  void remove(std::string_view path) const;  // with all that is beneath it
  [[nodiscard]] Fd open(std::string_view path) const;

  [[nodiscard]] std::string state(std::string_view path) const;
  // Of the regular files beneath it, each once however many names it has.
  [[nodiscard]] uint64_t bytes(std::string_view path) const;

 private:
  std::string root_;
  std::string mark_;
};

// As ==, but unseen by the fuzzer: a state holds the mark, which it would else learn from memcmp().
[[nodiscard]] bool same(std::string_view a, std::string_view b);

// How many descriptors this process has open.
[[nodiscard]] size_t open_descriptors();

}  // namespace subako::fuzz
