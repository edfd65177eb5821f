#include "serve_modules.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <variant>

#include "base/limits.h"
#include "base/write_all.h"

namespace subako::testing {

namespace {

void append(std::string& to, std::span<const std::byte> bytes) {
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

abi::Answer<uint32_t> tell_answer(std::string& told, uint32_t number) {
  append(told, std::as_bytes(std::span(&number, 1)));
  return 0U;
}

abi::Answer<uint32_t> tell_memory(std::string& told, abi::GuestBytes what) {
  append(told, what.bytes);
  return 0U;
}

constexpr std::array kTell{abi::import <"test", "answer", tell_answer>(abi::kNeverWaits),
                           abi::import <"test", "memory", tell_memory>(abi::kNeverWaits)};

class KeptStreams final : public Streams {
 public:
  std::string output;

  size_t read_stdin(std::span<std::byte>) override { return 0; }
  [[nodiscard]] size_t stdin_available() const override { return 0; }
  [[nodiscard]] bool stdin_closed() const override { return true; }
  bool write_stdout(std::span<const std::byte> bytes) override {
    append(output, bytes);
    return true;
  }
  void write_stderr(std::span<const std::byte> bytes) override { append(output, bytes); }
  void sleep(std::optional<Nanoseconds> at, bool) override {
    if (!at) return;  // input: its end is there already
    const timespec until{*at / 1'000'000'000, *at % 1'000'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
};

std::string told_end(const Result<engine::Finish>& finish) {
  struct Visitor {
    std::string operator()(const engine::Returned&) const { return "exited 0"; }
    std::string operator()(const engine::Exited& e) const { return "exited " + std::to_string(e.code); }
    std::string operator()(const engine::Halted&) const { return "halted"; }
    std::string operator()(const engine::Trapped& t) const { return "trapped " + t.message; }
    std::string operator()(const engine::Interrupted&) const { return "interrupted"; }
    std::string operator()(const engine::NotStarted& n) const { return "refused " + n.message; }
  };
  return finish ? std::visit(Visitor{}, *finish) : "refused " + finish.error().message;
}

// False: end of file before the first byte.
Result<bool> read_whole(std::span<std::byte> to) {
  size_t have = 0;
  while (have < to.size()) {
    const ssize_t count = ::read(STDIN_FILENO, to.data() + have, to.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(system_error("reading a module", errno));
    if (count == 0 && have == 0) return false;
    if (count == 0) return fail(Code::kInvalid, "stdin ends in the middle of a module");
    have += static_cast<size_t>(count);
  }
  return true;
}

void add(std::string& answer, std::string_view part) {
  const auto length = static_cast<uint32_t>(part.size());
  append(answer, std::as_bytes(std::span(&length, 1)));
  answer.append(part);
}

}  // namespace

Result<void> serve_modules(const World& world) {
  std::string told;
  TRY(const ModuleRun machine, ModuleRun::prepare({{kTell, &told}}));
  while (true) {
    uint32_t length = 0;
    TRY(const bool more, read_whole(std::as_writable_bytes(std::span(&length, 1))));
    if (!more) return {};
    if (length > limits::kBundleBytes) return fail(Code::kTooLarge, "a module is larger than a bundle may be");
    std::vector<std::byte> wasm(length);
    TRY_VOID(read_whole(wasm));
    told.clear();
    KeptStreams streams;
    const Result<engine::Finish> finish = machine.run(wasm, world, streams);
    std::string answer;
    add(answer, told_end(finish));
    add(answer, told);
    add(answer, streams.output);
    TRY_VOID(write_all(STDOUT_FILENO, answer, "writing an answer"));
  }
}

}  // namespace subako::testing
