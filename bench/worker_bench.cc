// What a call costs inside a worker, from StartRun decoded to Ended ready, by the worker's own objects; and the least it can
// cost, by a bare loop over Wasmtime's C API. One figure a run, as JSON on stdout; bench.py pairs the runs.
//
//   worker_bench calls   MODULE TOOL ARGUMENTS SECONDS   {"calls_per_second": ..., "us": ...}
//   worker_bench bare    MODULE TOOL ARGUMENTS SECONDS   the same
//   worker_bench held    MODULE TOOL ARGUMENTS COUNT     {"resident_kib": ..., ...} with so many guests held, and after
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bare.h"
#include "base/clock.h"
#include "engine/compile.h"
#include "engine/engine.h"
#include "engine/linked_module.h"
#include "protocol/request.h"
#include "worker/run.h"

namespace {

using namespace subako;

template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "worker_bench: %s\n", result.error().message.c_str());
  std::exit(1);
}

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A descriptor of its own for each who loads it.
Fd compiled_copy(const std::string& compiled) {
  Fd file(memfd_create("module", MFD_CLOEXEC));
  if (write(file.get(), compiled.data(), compiled.size()) != static_cast<ssize_t>(compiled.size())) std::exit(1);
  return file;
}

std::string compile(const char* path) {
  const std::string wasm = read_file(path);
  const engine::Engine compiler = must(engine::Engine::for_compiling());
  Fd file(memfd_create("module", MFD_CLOEXEC));
  const uint64_t size = must(engine::compile(compiler, std::as_bytes(std::span(wasm)), file.get()));
  std::string bytes(size, '\0');
  if (pread(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(size)) std::exit(1);
  return bytes;
}

struct Job {
  std::string tool;
  std::string arguments;
  [[nodiscard]] child::StartRun start(uint64_t run) const {
    child::StartRun message;
    message.set_run(run);
    message.set_module(1);
    message.set_package("bench");
    message.set_timeout_ms(60'000);
    message.mutable_call()->set_tool(tool);
    message.mutable_call()->set_arguments(arguments);
    return message;
  }
};

template <class Call>
void count(double seconds, const Call& call) {
  for (int i = 0; i < 20; ++i) call(static_cast<uint64_t>(i) + 1);
  const auto begin = std::chrono::steady_clock::now();
  uint64_t calls = 0;
  double elapsed = 0;
  do {
    for (int i = 0; i < 20; ++i) call(++calls + 20);
    elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } while (elapsed < seconds);
  std::printf("{\"calls_per_second\": %.1f, \"us\": %.3f}\n", static_cast<double>(calls) / elapsed,
              elapsed / static_cast<double>(calls) * 1e6);
}

void expect(bool answered) {
  if (answered) return;
  std::fprintf(stderr, "worker_bench: the guest did not answer\n");
  std::exit(1);
}

void bench_calls(const std::string& compiled, const Job& job, double seconds) {
  const engine::Engine engine = must(engine::Engine::for_running(16));
  const auto module = must(engine::LinkedModule::load(engine, compiled_copy(compiled), worker::Run::import_tables()));
  const SystemClock clock;
  count(seconds, [&](uint64_t id) {
    worker::Run run(job.start(id), {}, engine, module, clock);
    while (run.take_turn() == worker::Run::Turn::kAgain) {
    }
    expect(run.take_ended().has_answered());
  });
}

void bench_bare(const std::string& compiled, const Job& job, double seconds) {
  const engine::Engine engine = must(engine::Engine::for_running(16));
  bench::BareLoop loop(engine, compiled_copy(compiled));
  count(seconds, [&](uint64_t id) {
    const std::string asked = "call-" + std::to_string(id);
    expect(loop.call(protocol::call_request(asked, job.tool, job.arguments)).find(asked) != std::string::npos);
  });
}

long resident_kib() {
  std::ifstream statm("/proc/self/statm");
  long size = 0;
  long resident = 0;
  statm >> size >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

void bench_held(const std::string& compiled, const Job& job, size_t guests) {
  const engine::Engine engine = must(engine::Engine::for_running(static_cast<uint32_t>(guests)));
  const auto module = must(engine::LinkedModule::load(engine, compiled_copy(compiled), worker::Run::import_tables()));
  const SystemClock clock;
  const long before = resident_kib();
  std::vector<std::unique_ptr<worker::Run>> runs;
  for (uint64_t id = 1; id <= guests; ++id) {
    runs.push_back(std::make_unique<worker::Run>(job.start(id), std::vector<Fd>{}, engine, module, clock));
    expect(runs.back()->take_turn() == worker::Run::Turn::kWaits);
  }
  const long held = resident_kib();
  runs.clear();
  std::printf("{\"before_kib\": %ld, \"held_kib\": %ld, \"after_kib\": %ld}\n", before, held, resident_kib());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: worker_bench calls|bare|held MODULE TOOL ARGUMENTS SECONDS|COUNT\n", stderr);
    return 3;
  }
  const std::string what = argv[1];
  const std::string compiled = compile(argv[2]);
  const Job job{argv[3], argv[4]};
  if (what == "calls") bench_calls(compiled, job, std::atof(argv[5]));
  if (what == "bare") bench_bare(compiled, job, std::atof(argv[5]));
  if (what == "held") bench_held(compiled, job, static_cast<size_t>(std::atoi(argv[5])));
}
