#include "engine/host_call.h"

#include <array>
#include <string_view>

#include "engine/messages.h"
#include "subako_engine_shims.h"

namespace subako::engine {

namespace {

using Raw = std::array<uint64_t, 9>;

constexpr uint32_t kTicksOfATurn = 2;  // the first of which may come at once

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

// Why a host function ended the guest: what Wasmtime gets only unwinds it.
void remember_end(InstanceState& state, abi::Stop why) {
  if (auto* exit = std::get_if<abi::Exit>(&why)) {
    state.ended = *exit;
  } else if (auto* trap = std::get_if<abi::Trap>(&why)) {
    state.ended = std::move(*trap);
  } else {
    state.ended = abi::Halt{};
  }
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
  if (!answer) {
    remember_end(state, std::move(answer).error());
    constexpr std::string_view kMessage = "ended by the host";
    return wasmtime_trap_new(kMessage.data(), kMessage.size());
  }
  if (type.returns_i32) values[0].i32 = static_cast<int32_t>(*answer);
  return nullptr;
}

// Compiled code looks at the epoch at loop heads and function entries; one host call after the other in a straight line
// would never give the turn back. The imports that can't wait are short, and a module has only so much code.
bool turn_is_over(const InstanceState& state) {
  return state.ticks->load(std::memory_order_relaxed) - state.turn_began >= kTicksOfATurn;
}

int on_waiting_call(void* env, wasmtime_caller_t* caller, const uint64_t* params, int32_t* result) noexcept {
  const auto& bound = *static_cast<const LinkedModule::Bound*>(env);
  const abi::FunctionType& type = bound.import->type;
  InstanceState& state = state_of(caller);
  if (state.interrupted) return SUBAKO_ENDS;
  if (turn_is_over(state)) return SUBAKO_WAITS;  // and no `waits`: it is made at the next turn
  abi::Answer<uint32_t> answer = bound.import->call(state.hosts[bound.host], abi::GuestMemory(memory_of(caller, state)),
                                                    std::span(params, type.param_count));
  if (answer) {
    *result = static_cast<int32_t>(*answer);
    return SUBAKO_DONE;
  }
  if (std::holds_alternative<abi::Wait>(answer.error())) {
    state.waits = &bound;
    return SUBAKO_WAITS;
  }
  remember_end(state, std::move(answer).error());
  return SUBAKO_ENDS;
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

Result<void> define_waiting(wasmtime_linker_t* linker, const abi::Import& import, void* env) {
  if (!import.type.returns_i32) return fail(Code::kInternal, "an import that waits returns an i32");
  std::string signature;
  for (size_t i = 0; i < import.type.param_count; ++i) {
    signature += import.type.params[i] == abi::ValueType::kI64 ? 'I' : 'i';
  }
  std::array<char, 256> message{};
  if (subako_linker_define_waiting(linker, import.module.data(), import.module.size(), import.name.data(), import.name.size(),
                                   signature.data(), signature.size(), on_waiting_call, env, message.data(),
                                   message.size()) != 0) {
    return fail(Code::kInternal, message.data());
  }
  return {};
}

Result<void> define_short(wasmtime_linker_t* linker, const abi::Import& import, void* env) {
  wasm_functype_t* type = make_type(import.type);
  wasmtime_error_t* error =
      wasmtime_linker_define_func_unchecked(linker, import.module.data(), import.module.size(), import.name.data(),
                                            import.name.size(), type, on_call, env, nullptr);
  wasm_functype_delete(type);
  if (error != nullptr) return fail(Code::kInternal, take_message(error));
  return {};
}

}  // namespace

Result<void> define_import(wasmtime_linker_t* linker, const LinkedModule::Bound& bound) {
  const abi::Import& import = *bound.import;
  void* env = const_cast<LinkedModule::Bound*>(&bound);
  auto defined = import.waits ? define_waiting(linker, import, env) : define_short(linker, import, env);
  if (!defined) return fail(Code::kInternal, "cannot link " + std::string(import.name) + ": " + defined.error().message);
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
