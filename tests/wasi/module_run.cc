#include "module_run.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "engine/compile.h"
#include "engine/module_check.h"
#include "wasi/imports.h"

namespace subako::testing {

namespace {

constexpr Nanoseconds kNap = 1'000'000;

// Nobody else has anything to do meanwhile.
class OnTheSpot final : public wasi::Blocking {
 public:
  void hand_over(std::shared_ptr<wasi::BlockingTask> task) override { task->run(); }
};

Result<void> bind_trees(wasi::Host& host, const World& world) {
  for (size_t i = 0; i < world.trees.size(); ++i) {
    const std::string& path = world.trees[i].host;
    Fd tree(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!tree.valid()) return std::unexpected(system_error("opening " + path, errno));
    host.bind(i, std::move(tree));
  }
  return {};
}

std::vector<wasi::Preopen> preopens_of(const World& world) {
  std::vector<wasi::Preopen> preopens;
  for (const World::Tree& tree : world.trees) preopens.push_back({tree.guest, tree.writable});
  return preopens;
}

void wait(const wasi::Wake& wake, const Clock& clock, Streams& streams) {
  if (wake.now) return;
  // Neither a time nor input: something that tells nobody when it comes.
  if (!wake.at && !wake.stdin) return streams.sleep(clock.monotonic() + kNap, false);
  streams.sleep(wake.at, wake.stdin);
}

}  // namespace

Result<ModuleRun> ModuleRun::prepare(std::vector<More> more) {
  TRY(engine::Engine compiler, engine::Engine::for_compiling());
  TRY(engine::Engine runner, engine::Engine::for_running(1));
  return ModuleRun(std::move(compiler), std::move(runner), std::move(more));
}

Result<std::shared_ptr<const engine::LinkedModule>> ModuleRun::load(std::span<const std::byte> wasm) const {
  engine::ImportTables tables{wasi::imports()};
  for (const More& one : more_) tables.push_back(one.table);
  if (const Refusals refusals = engine::check_module(wasm, tables); !refusals.empty()) {
    return fail(Code::kInvalid, refusals.front().where + ": " + refusals.front().message);
  }
  Fd compiled(memfd_create("compiled", MFD_CLOEXEC));
  if (!compiled.valid()) return std::unexpected(system_error("making a file for the compiled module", errno));
  TRY_VOID(engine::compile(compiler_, wasm, compiled.get()));
  return engine::LinkedModule::load(runner_, std::move(compiled), tables);
}

Result<engine::Finish> ModuleRun::run(std::span<const std::byte> wasm, const World& world,
                                      Streams& streams) const {
  TRY(auto module, load(wasm));
  OnTheSpot blocking;
  wasi::Host host({.arguments = world.arguments, .preopens = preopens_of(world), .environment = world.environment}, clock_,
                  streams, blocking);
  TRY_VOID(bind_trees(host, world));
  std::vector<void*> hosts{&host};
  for (const More& one : more_) hosts.push_back(one.host);
  engine::Instance instance(runner_, std::move(module), std::move(hosts));
  while (true) {
    switch (instance.resume()) {
      case engine::Instance::State::kStarted:
      case engine::Instance::State::kYielded:
      case engine::Instance::State::kGrowing:  // not where nobody is asked
        break;
      case engine::Instance::State::kWaiting:
        wait(host.wake(), clock_, streams);
        break;
      case engine::Instance::State::kFinished:
        return instance.finish();
    }
  }
}

}  // namespace subako::testing
