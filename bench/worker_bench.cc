// What a call costs inside a worker, from StartRun decoded to Ended ready, by the worker's own objects; and the least it can
// cost, by a bare loop over Wasmtime's C API. One figure a run, as JSON on stdout; bench.py pairs the runs.
//
//   worker_bench compile MODULE COMPILED                 writes what the others take
//   worker_bench calls COMPILED TOOL ARGUMENTS SECONDS   {"calls_per_second": ..., "us": ...}: runs, fed here in a loop
//   worker_bench bare  COMPILED TOOL ARGUMENTS SECONDS   the same, by the bare loop
//   worker_bench loop  COMPILED TOOL ARGUMENTS SECONDS   the same and "cpu_us", by a whole Worker, fed over its socket by a thread on
//                                                        another core, counted by the worker's own counter
//   worker_bench held  COMPILED TOOL ARGUMENTS COUNT     {"before_kib": ..., "held_kib": ..., "after_kib": ...}: resident with so
//                                                        many guests held, and after they have gone
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bare.h"
#include "base/clock.h"
#include "child/envelope.h"
#include "child/frames.h"
#include "engine/compile.h"
#include "engine/engine.h"
#include "engine/linked_module.h"
#include "protocol/request.h"
#include "worker/run.h"
#include "worker/worker.h"

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

void compile(const char* module, const char* out) {
  const std::string wasm = read_file(module);
  const engine::Engine compiler = must(engine::Engine::for_compiling());
  const Fd file(open(out, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  (void)must(engine::compile(compiler, std::as_bytes(std::span(wasm)), file.get()));
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
    message.set_memory_bytes(limits::kFullGuestBytes);
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
  worker::CpuClock cpu(clock);
  Ids ids;
  const auto blocking = must(worker::BlockingThreads::create(limits::kBlockingThreads));
  worker::MemoryMeter memory([](uint64_t, uint64_t) {}, [](uint64_t) {});
  const worker::Surroundings around{engine, clock, cpu, ids, *blocking, limits::kDescriptors, memory};
  count(seconds, [&](uint64_t id) {
    worker::Run run(job.start(id), {}, module, around);
    while (run.take_turn() == worker::Run::Turn::kAgain) {
    }
    expect(run.take_ended().has_answered());
  });
}

double thread_cpu_us() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

// Keeps a few calls under way, so that the worker never waits for the thread that feeds it.
class Feeder {
 public:
  Feeder(Fd socket, const Job& job) : socket_(std::move(socket)), job_(job) {}

  void begin(const std::string& compiled) {
    child::ToWorker configure;
    configure.mutable_configure()->set_guests(16);
    configure.mutable_configure()->set_kept_bytes(limits::kKeptMemoryBytes);
    send(configure);
    child::ToWorker load;
    load.mutable_load_module()->set_module(1);
    send(load, compiled_copy(compiled));
    expect(receive().has_ready());
    const child::FromWorker loaded = receive();
    expect(loaded.has_module_loaded() && loaded.module_loaded().error().empty());
  }

  void feed(double seconds) {
    constexpr int kAtOnce = 12;
    for (int i = 0; i < kAtOnce; ++i) start();
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
      take_end();
      start();
    }
    for (int i = 0; i < kAtOnce; ++i) take_end();
  }

 private:
  void send(const child::ToWorker& message, Fd descriptor = {}) {
    child::Frame frame{child::encode(message), {}};
    if (descriptor.valid()) frame.descriptors.push_back(std::move(descriptor));
    if (!child::send_frame(socket_.get(), std::move(frame))) expect(false);
  }
  child::FromWorker receive() {
    const auto frame = must(child::receive_frame(socket_.get()));
    expect(frame.has_value());
    return child::decode<child::FromWorker>(frame->body).value();
  }
  void start() {
    child::ToWorker message;
    *message.mutable_start_run() = job_.start(next_++);
    send(message);
  }
  void take_end() { expect(receive().ended().has_answered()); }

  Fd socket_;
  const Job& job_;
  uint64_t next_ = 1;
};

void bench_loop(const std::string& compiled, const Job& job, double seconds) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) std::exit(1);
  const SystemClock clock;
  worker::Worker worker(Fd(sockets[0]), clock);
  double cpu_us = 0;
  std::thread serving([&] {
    expect(worker.serve().has_value());
    cpu_us = thread_cpu_us();
  });
  double elapsed = 0;
  {
    Feeder feeder(Fd(sockets[1]), job);
    feeder.begin(compiled);
    const auto begin = std::chrono::steady_clock::now();
    feeder.feed(seconds);
    elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  serving.join();  // its socket has closed
  const auto calls = static_cast<double>(worker.counts().ended);
  std::printf("{\"calls_per_second\": %.1f, \"us\": %.3f, \"cpu_us\": %.3f}\n", calls / elapsed, elapsed / calls * 1e6,
              cpu_us / calls);
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
  worker::CpuClock cpu(clock);
  Ids ids;
  const auto blocking = must(worker::BlockingThreads::create(limits::kBlockingThreads));
  worker::MemoryMeter memory([](uint64_t, uint64_t) {}, [](uint64_t) {});
  const worker::Surroundings around{engine, clock, cpu, ids, *blocking, limits::kDescriptors, memory};
  const long before = resident_kib();
  std::vector<std::unique_ptr<worker::Run>> runs;
  for (uint64_t id = 1; id <= guests; ++id) {
    runs.push_back(std::make_unique<worker::Run>(job.start(id), std::vector<Fd>{}, module, around));
    worker::Run::Turn turn = runs.back()->take_turn();
    while (turn == worker::Run::Turn::kAgain) turn = runs.back()->take_turn();
    expect(turn == worker::Run::Turn::kWaits);
  }
  const long held = resident_kib();
  runs.clear();
  std::printf("{\"before_kib\": %ld, \"held_kib\": %ld, \"after_kib\": %ld}\n", before, held, resident_kib());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "compile" && argc == 4) {
    compile(argv[2], argv[3]);
    return 0;
  }
  if (argc != 6) {
    std::fputs("usage: worker_bench compile MODULE COMPILED\n"
               "       worker_bench calls|bare|loop|held COMPILED TOOL ARGUMENTS SECONDS|COUNT\n",
               stderr);
    return 3;
  }
  const std::string compiled = read_file(argv[2]);
  const Job job{argv[3], argv[4]};
  const double amount = std::atof(argv[5]);
  if (what == "calls") bench_calls(compiled, job, amount);
  if (what == "bare") bench_bare(compiled, job, amount);
  if (what == "loop") bench_loop(compiled, job, amount);
  if (what == "held") bench_held(compiled, job, static_cast<size_t>(amount));
}
