// For tests: one module, compiled and run by our engine and our room wasi in this process, without the product
// around it: no conversation, no limits of time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/engine.h"
#include "engine/instance.h"
#include "engine/linked_module.h"
#include "wasi/host.h"

namespace subako::testing {

struct World {
  struct Tree {
    std::string host;
    std::string guest;
    bool writable = false;
  };
  std::vector<std::string> arguments;    // argv[0] too
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<Tree> trees;               // preopened from descriptor 3, in this order
};

// The guest's standard streams, and how this process sleeps while the guest waits.
class Streams : public wasi::Stdio {
 public:
  // Until `at` (never: none), or until there is something on stdin where `input`.
  virtual void sleep(std::optional<Nanoseconds> at, bool input) = 0;
};

class ModuleRun {
 public:
  // `more`: a table beside WASI's, with its host object.
  struct More {
    std::span<const abi::Import> table;
    void* host;
  };
  [[nodiscard]] static Result<ModuleRun> prepare(std::vector<More> more = {});

  // kInvalid: the module is one that we refuse. Trees that can't be opened are an Error, too.
  [[nodiscard]] Result<engine::Finish> run(std::span<const std::byte> wasm, const World& world,
                                           Streams& streams) const;

 private:
  ModuleRun(engine::Engine compiler, engine::Engine runner, std::vector<More> more)
      : compiler_(std::move(compiler)), runner_(std::move(runner)), more_(std::move(more)) {}
  [[nodiscard]] Result<std::shared_ptr<const engine::LinkedModule>> load(
      std::span<const std::byte> wasm) const;

  engine::Engine compiler_;
  engine::Engine runner_;
  std::vector<More> more_;
  SystemClock clock_;
};

}  // namespace subako::testing
