// From Wasmtime's callbacks to a host function and back. Private to this room.
#pragma once

#include <wasm.h>
#include <wasmtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "abi/import.h"
#include "engine/linked_module.h"

namespace subako::engine {

// What an instance's callbacks share with it; the store's data points here. It doesn't move while the store lives.
struct InstanceState {
  std::vector<void*> hosts;
  std::optional<wasmtime_memory_t> memory;  // known once the instance is there; a start section runs before

  bool interrupted = false;  // end the guest where it stands
  const std::atomic<uint32_t>* ticks = nullptr;  // of the engine
  uint32_t turn_began = 0;                       // as they stood then
  // The import that answered Wait, where the last resume ended in one. Only one call can be suspended.
  const LinkedModule::Bound* waits = nullptr;

  // Set by a host function that ended the guest; Wasmtime only hears of some trap.
  std::variant<std::monostate, abi::Exit, abi::Halt, abi::Trap> ended;
};

[[nodiscard]] Result<void> define_import(wasmtime_linker_t* linker, const LinkedModule::Bound& bound);

// At an epoch: lets others have a turn, or ends an interrupted guest.
wasmtime_error_t* on_epoch(wasmtime_context_t* context, void* state, uint64_t* delta,
                           wasmtime_update_deadline_kind_t* kind);

}  // namespace subako::engine
