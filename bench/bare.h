// A guest run by nothing but Wasmtime's C API, with the settings that the worker's engine has: the least that a call can cost.
// It answers the imports that a guest needs to answer one request, and nothing more.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "engine/engine.h"

namespace subako::bench {

class BareLoop {
 public:
  // `compiled`: as engine::compile() wrote it.
  BareLoop(const engine::Engine& engine, Fd compiled);
  ~BareLoop();
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  // Instantiates, hands it the request line, runs it to its end, tears it down. What it wrote to stdout.
  [[nodiscard]] std::string call(std::string_view request_line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace subako::bench
