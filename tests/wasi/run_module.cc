// Runs one module with our engine and our WASI, its streams being this process's own: what tests of WASI from elsewhere
// want of a host. Not a part of the product.
//
//   run_module [--env NAME=VALUE]... [--dir HOST::GUEST]... [--ro-dir HOST::GUEST]... MODULE [ARGUMENT]...
//   run_module --serve [--dir HOST::GUEST]... [--ro-dir HOST::GUEST]...     (serve_modules.h)
//
// The exit status is the guest's; 134 and a sentence on stderr where it trapped, 125 where it couldn't be run.
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string_view>
#include <variant>

#include "base/write_all.h"
#include "module_run.h"
#include "serve_modules.h"

namespace subako::testing {
namespace {

constexpr int kTrapped = 134;
constexpr int kNotRun = 125;

class ProcessStreams final : public Streams {
 public:
  size_t read_stdin(std::span<std::byte> to) override {
    if (!ready(0)) return 0;
    const ssize_t count = ::read(STDIN_FILENO, to.data(), to.size());
    return count > 0 ? static_cast<size_t>(count) : 0;
  }
  [[nodiscard]] size_t stdin_available() const override {
    int count = 0;
    return ::ioctl(STDIN_FILENO, FIONREAD, &count) == 0 ? static_cast<size_t>(count) : 0;
  }
  // Readable, and nothing to read: that is how the kernel shows the end.
  [[nodiscard]] bool stdin_closed() const override { return ready(0) && stdin_available() == 0; }
  bool write_stdout(std::span<const std::byte> bytes) override { return write(STDOUT_FILENO, bytes); }
  void write_stderr(std::span<const std::byte> bytes) override { (void)write(STDERR_FILENO, bytes); }
  void sleep(std::optional<Nanoseconds> at, bool input) override {
    const Nanoseconds left = at ? std::max<Nanoseconds>(0, *at - SystemClock().monotonic()) : -1;
    if (input) {
      ready(left);
    } else {
      const timespec time{left / 1'000'000'000, left % 1'000'000'000};
      ::ppoll(nullptr, 0, &time, nullptr);
    }
  }

 private:
  // Whether stdin is readable or at its end within so long; forever where `wait` is negative.
  static bool ready(Nanoseconds wait) {
    pollfd one{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const timespec time{wait / 1'000'000'000, wait % 1'000'000'000};
    return ::ppoll(&one, 1, wait < 0 ? nullptr : &time, nullptr) > 0;
  }
  static bool write(int fd, std::span<const std::byte> bytes) {
    return write_all(fd, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "writing").has_value();
  }
};

int fail_with(int status, const std::string& message) {
  std::fprintf(stderr, "run_module: %s\n", message.c_str());
  return status;
}

int status_of(const engine::Finish& finish) {
  struct Visitor {
    int operator()(const engine::Returned&) const { return 0; }
    int operator()(const engine::Exited& exit) const { return static_cast<int>(exit.code); }
    int operator()(const engine::Halted&) const { return fail_with(kTrapped, "stdout takes nothing more"); }
    int operator()(const engine::Trapped& trap) const { return fail_with(kTrapped, "trap: " + trap.message); }
    int operator()(const engine::Interrupted&) const { return fail_with(kTrapped, "interrupted"); }
    int operator()(const engine::NotStarted& why) const { return fail_with(kNotRun, why.message); }
  };
  return std::visit(Visitor{}, finish);
}

struct Options {
  World world;
  std::string module;
  bool serve = false;
};

Result<World::Tree> tree_of(std::string_view text, bool writable) {
  const size_t cut = text.find("::");
  if (cut == std::string_view::npos) {
    return fail(Code::kInvalid, "a directory is written as HOST::GUEST, not " + std::string(text));
  }
  return World::Tree{std::string(text.substr(0, cut)), std::string(text.substr(cut + 2)), writable};
}

Result<Options> options_of(std::span<char*> words) {
  Options options;
  size_t i = 0;
  for (; i < words.size() && std::string_view(words[i]).starts_with("--"); ++i) {
    const std::string_view name = words[i];
    if (name == "--serve") {
      options.serve = true;
      continue;
    }
    if (++i == words.size()) return fail(Code::kInvalid, std::string(name) + " lacks its value");
    if (name == "--env") {
      options.world.environment.emplace_back(words[i]);
    } else if (name == "--dir" || name == "--ro-dir") {
      TRY(World::Tree tree, tree_of(words[i], name == "--dir"));
      options.world.trees.push_back(std::move(tree));
    } else {
      return fail(Code::kInvalid, "there is no option " + std::string(name));
    }
  }
  if (options.serve) return options;
  if (i == words.size()) return fail(Code::kInvalid, "no module is named");
  options.module = words[i];
  for (; i < words.size(); ++i) options.world.arguments.emplace_back(words[i]);
  return options;
}

Result<int> run(std::span<char*> words) {
  TRY(Options options, options_of(words));
  if (options.serve) {
    options.world.arguments = {"module"};
    TRY_VOID(serve_modules(options.world));
    return 0;
  }
  std::ifstream file(options.module, std::ios::binary);
  if (!file) return fail(Code::kNotFound, options.module + " can't be opened");
  const std::string wasm((std::istreambuf_iterator<char>(file)), {});
  ProcessStreams streams;
  TRY(const ModuleRun machine, ModuleRun::prepare());
  TRY(const engine::Finish finish, machine.run(std::as_bytes(std::span(wasm)), options.world, streams));
  return status_of(finish);
}

}  // namespace
}  // namespace subako::testing

int main(int argc, char** argv) {
  const auto status = subako::testing::run({argv + 1, static_cast<size_t>(argc - 1)});
  if (!status) return subako::testing::fail_with(subako::testing::kNotRun, status.error().message);
  return *status;
}
