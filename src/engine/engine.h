// Wasmtime, configured. The only room that includes it; everything else sees these few types. Runs in a child process.
//
// One Engine a process: a builder's compiles, a worker's runs what a builder of the same build compiled. What decides over
// generated code is the same for both, or Wasmtime refuses to load it. Every setting is given, as Wasmtime's defaults move.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>

#include "base/limits.h"
#include "base/result.h"

struct wasm_engine_t;

namespace subako::engine {

class Engine {
 public:
  // For a builder: compiles, on all CPUs.
  [[nodiscard]] static Result<Engine> for_compiling();
  // For a worker: room for `guests` instances at once, kept in a pool (address space is reserved, memory is not). A freed slot keeps
  // up to `kept_bytes` of its memory resident, so that the next instance finds its pages there, and pages of its tables and
  // its stack; 0: none of it.
  [[nodiscard]] static Result<Engine> for_running(uint32_t guests, uint64_t kept_bytes = limits::kKeptMemoryBytes);

  // Lets every guest that is running code come up for air soon. From any thread; safe in a signal handler.
  void tick() const;
  // How often it was called: a clock of turns that costs nothing to look at. It wraps.
  [[nodiscard]] const std::atomic<uint32_t>& ticks() const { return *ticks_; }

  // All that decides over generated code, as Wasmtime sees it: its version, the settings, this CPU. Engines for which it is the
  // same load each other's modules. Opaque bytes.
  [[nodiscard]] std::string compatibility() const;

  // Gives back to the system what the memories of freed slots keep resident. Only while there is no instance.
  void give_back_kept() const;
  // An instance tells where its memory lies, which is a slot's.
  void note_memory(uint8_t* memory) const { memories_->insert(memory); }

  [[nodiscard]] wasm_engine_t* get() const { return engine_.get(); }

 private:
  struct Delete {
    void operator()(wasm_engine_t* engine) const;
  };
  Engine(wasm_engine_t* engine, uint64_t kept_bytes) : engine_(engine), kept_bytes_(kept_bytes) {}
  std::unique_ptr<wasm_engine_t, Delete> engine_;
  uint64_t kept_bytes_;
  std::unique_ptr<std::unordered_set<uint8_t*>> memories_ = std::make_unique<std::unordered_set<uint8_t*>>();  // at most one a slot
  std::unique_ptr<std::atomic<uint32_t>> ticks_ = std::make_unique<std::atomic<uint32_t>>(0);  // it doesn't move with us
};

}  // namespace subako::engine
