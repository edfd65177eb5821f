#include "engine/host_call.h"

#include <string_view>

#include "engine/messages.h"

namespace subako::engine {

namespace {

using Raw = std::array<uint64_t, 9>;

constexpr std::chrono::milliseconds kLongestTurn{4};

wasm_trap_t* make_trap(std::string_view message) { return wasmtime_trap_new(message.data(), message.size()); }

InstanceState& state_of(wasmtime_caller_t* caller) {
  return *static_cast<InstanceState*>(wasmtime_context_get_data(wasmtime_caller_context(caller)));
}

// The guest's memory as it is now. A module without one (only its start section can call so early) has none.
std::span<std::byte> memory_of(wasmtime_caller_t* caller, const InstanceState& state) {
  wasmtime_context_t* context = wasmtime_caller_context(caller);
  std::optional<wasmtime_memory_t> memory = state.memory;
  if (!memory) {
    wasmtime_extern_t found;
    constexpr std::string_view kName = "memory";
    if (!wasmtime_caller_export_get(caller, kName.data(), kName.size(), &found)) return {};
    if (found.kind == WASMTIME_EXTERN_MEMORY) memory = found.of.memory;
    wasmtime_extern_delete(&found);
    if (!memory) return {};
  }
  return {reinterpret_cast<std::byte*>(wasmtime_memory_data(context, &*memory)),
          wasmtime_memory_data_size(context, &*memory)};
}

// Remembers why a host function ended the guest; what Wasmtime gets only unwinds it.
wasm_trap_t* end_guest(InstanceState& state, abi::Stop why) {
  if (auto* exit = std::get_if<abi::Exit>(&why)) {
    state.ended = *exit;
    return make_trap("exit");
  }
  if (auto* trap = std::get_if<abi::Trap>(&why)) {
    wasm_trap_t* raised = make_trap(trap->message);
    state.ended = std::move(*trap);
    return raised;
  }
  state.ended = abi::Halt{};
  return make_trap("halted by the host");
}

// Nothing may be thrown through Wasmtime's frames: an exception here is a bug of ours and ends the worker.
wasm_trap_t* on_call(void* env, wasmtime_caller_t* caller, wasmtime_val_raw_t* values, size_t /*count*/) noexcept {
  const auto& bound = *static_cast<const LinkedModule::Bound*>(env);
  const abi::FunctionType& type = bound.import->type;
  InstanceState& state = state_of(caller);
  Raw raw{};
  for (size_t i = 0; i < type.param_count; ++i) {
    raw[i] = type.params[i] == abi::ValueType::kI64 ? static_cast<uint64_t>(values[i].i64)
                                                    : static_cast<uint32_t>(values[i].i32);
  }
  abi::Answer<uint32_t> answer = bound.import->call(state.hosts[bound.host], abi::GuestMemory(memory_of(caller, state)),
                                                    std::span(raw).first(type.param_count));
  if (!answer) return end_guest(state, std::move(answer).error());
  if (type.returns_i32) values[0].i32 = static_cast<int32_t>(*answer);
  return nullptr;
}

// Compiled code looks at the epoch at loop heads and function entries; one host call after the other in a straight line
// would never give the turn back. The imports that can't wait are short, and a module has only so much code.
bool turn_is_over(const InstanceState& state) {
  return std::chrono::steady_clock::now() - state.turn_began > kLongestTurn;
}

// True when the suspended call is over, in whatever way.
bool on_poll(void* env) noexcept {
  auto& call = *static_cast<InstanceState::Suspended*>(env);
  InstanceState& state = *call.state;
  if (state.interrupted) {
    *call.trap = make_trap("interrupted");
    return true;
  }
  if (turn_is_over(state)) return false;  // and not `waiting`: it is made at the next turn
  const abi::FunctionType& type = call.bound->import->type;
  abi::Answer<uint32_t> answer = call.bound->import->call(state.hosts[call.bound->host], abi::GuestMemory(call.memory),
                                                          std::span(call.raw).first(type.param_count));
  if (!answer) {
    if (std::holds_alternative<abi::Wait>(answer.error())) {
      state.waiting = true;
      return false;
    }
    *call.trap = end_guest(state, std::move(answer).error());
    return true;
  }
  if (type.returns_i32) {
    call.results[0].kind = WASMTIME_I32;
    call.results[0].of.i32 = static_cast<int32_t>(*answer);
  }
  return true;
}

void on_async_call(void* env, wasmtime_caller_t* caller, const wasmtime_val_t* values, size_t /*count*/,
                   wasmtime_val_t* results, size_t /*result_count*/, wasm_trap_t** trap,
                   wasmtime_async_continuation_t* continuation) noexcept {
  const auto* bound = static_cast<const LinkedModule::Bound*>(env);
  InstanceState& state = state_of(caller);
  const abi::FunctionType& type = bound->import->type;
  InstanceState::Suspended& call = state.suspended;
  call.bound = bound;
  call.memory = memory_of(caller, state);
  for (size_t i = 0; i < type.param_count; ++i) {
    call.raw[i] = type.params[i] == abi::ValueType::kI64 ? static_cast<uint64_t>(values[i].of.i64)
                                                         : static_cast<uint32_t>(values[i].of.i32);
  }
  call.results = results;
  call.trap = trap;
  call.state = &state;
  *continuation = {on_poll, &call, nullptr};  // polled at once
}

wasm_functype_t* make_type(const abi::FunctionType& type) {
  std::vector<wasm_valtype_t*> params;
  for (size_t i = 0; i < type.param_count; ++i) {
    params.push_back(type.params[i] == abi::ValueType::kI64 ? wasm_valtype_new_i64() : wasm_valtype_new_i32());
  }
  wasm_valtype_vec_t param_vec;
  wasm_valtype_vec_new(&param_vec, params.size(), params.data());
  wasm_valtype_vec_t result_vec;
  if (type.returns_i32) {
    wasm_valtype_t* result = wasm_valtype_new_i32();
    wasm_valtype_vec_new(&result_vec, 1, &result);
  } else {
    wasm_valtype_vec_new_empty(&result_vec);
  }
  return wasm_functype_new(&param_vec, &result_vec);
}

}  // namespace

Result<void> define_import(wasmtime_linker_t* linker, const LinkedModule::Bound& bound) {
  const abi::Import& import = *bound.import;
  wasm_functype_t* type = make_type(import.type);
  void* env = const_cast<LinkedModule::Bound*>(&bound);
  wasmtime_error_t* error =
      import.waits ? wasmtime_linker_define_async_func(linker, import.module.data(), import.module.size(),
                                                       import.name.data(), import.name.size(), type, on_async_call, env, nullptr)
                   : wasmtime_linker_define_func_unchecked(linker, import.module.data(), import.module.size(),
                                                           import.name.data(), import.name.size(), type, on_call, env, nullptr);
  wasm_functype_delete(type);
  if (error != nullptr) return fail(Code::kInternal, "cannot link " + std::string(import.name) + ": " + take_message(error));
  return {};
}

wasmtime_error_t* on_epoch(wasmtime_context_t* /*context*/, void* state, uint64_t* delta,
                           wasmtime_update_deadline_kind_t* kind) {
  if (static_cast<const InstanceState*>(state)->interrupted) return wasmtime_error_new("interrupted");
  *delta = 1;
  *kind = WASMTIME_UPDATE_DEADLINE_YIELD;
  return nullptr;
}

}  // namespace subako::engine
