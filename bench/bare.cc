#include "bare.h"

#include <sys/random.h>
#include <wasm.h>
#include <wasmtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "subako_engine_shims.h"

namespace subako::bench {

namespace {

struct Guest {
  std::string_view in;
  std::string out;
  wasmtime_memory_t memory{};
};

[[noreturn]] void give_up(const char* what, wasmtime_error_t* error) {
  wasm_name_t message;
  wasmtime_error_message(error, &message);
  std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(message.size), message.data);
  std::exit(1);
}

struct Memory {
  uint8_t* data;
  void put(uint32_t at, uint32_t value) const { std::memcpy(data + at, &value, 4); }
  void put64(uint32_t at, uint64_t value) const { std::memcpy(data + at, &value, 8); }
  [[nodiscard]] uint32_t get(uint32_t at) const {
    uint32_t value = 0;
    std::memcpy(&value, data + at, 4);
    return value;
  }
};

struct Call {
  Guest& guest;
  Memory memory;
  wasmtime_val_raw_t* values;
  [[nodiscard]] uint32_t arg(size_t i) const { return static_cast<uint32_t>(values[i].i32); }
  wasm_trap_t* done(int32_t result = 0) const {
    values[0].i32 = result;
    return nullptr;
  }
};

template <wasm_trap_t* (*F)(const Call&)>
wasm_trap_t* import(void* /*env*/, wasmtime_caller_t* caller, wasmtime_val_raw_t* values, size_t /*count*/) {
  wasmtime_context_t* context = wasmtime_caller_context(caller);
  auto& guest = *static_cast<Guest*>(wasmtime_context_get_data(context));
  if (guest.memory.store_id == 0) {
    wasmtime_extern_t found;
    if (wasmtime_caller_export_get(caller, "memory", 6, &found)) guest.memory = found.of.memory;
  }
  return F({guest, {wasmtime_memory_data(context, &guest.memory)}, values});
}

constexpr int32_t kBadf = 8;

wasm_trap_t* ok(const Call& call) { return call.done(); }
wasm_trap_t* badf(const Call& call) { return call.done(kBadf); }
wasm_trap_t* args_sizes(const Call& call) {
  call.memory.put(call.arg(0), 1);
  call.memory.put(call.arg(1), 6);
  return call.done();
}
wasm_trap_t* args(const Call& call) {
  call.memory.put(call.arg(0), call.arg(1));
  std::memcpy(call.memory.data + call.arg(1), "bench", 6);
  return call.done();
}
wasm_trap_t* no_environment(const Call& call) {
  call.memory.put(call.arg(0), 0);
  call.memory.put(call.arg(1), 0);
  return call.done();
}
wasm_trap_t* clock_time(const Call& call) {
  timespec t{};
  clock_gettime(call.arg(0) == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &t);
  call.memory.put64(call.arg(2), static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec));
  return call.done();
}
wasm_trap_t* random_bytes(const Call& call) {
  if (getrandom(call.memory.data + call.arg(0), call.arg(1), 0) < 0) std::abort();
  return call.done();
}
wasm_trap_t* fdstat(const Call& call) {
  if (call.arg(0) > 2) return call.done(kBadf);
  std::memset(call.memory.data + call.arg(1), 0, 24);
  call.memory.put64(call.arg(1) + 8, ~0ULL);
  return call.done();
}
wasm_trap_t* read(const Call& call) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < call.arg(2); ++i) {
    const uint32_t at = call.memory.get(call.arg(1) + 8 * i);
    const size_t n = std::min<size_t>(call.memory.get(call.arg(1) + 8 * i + 4), call.guest.in.size());
    std::memcpy(call.memory.data + at, call.guest.in.data(), n);
    call.guest.in.remove_prefix(n);
    total += static_cast<uint32_t>(n);
  }
  call.memory.put(call.arg(3), total);
  return call.done();
}
wasm_trap_t* write(const Call& call) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < call.arg(2); ++i) {
    const uint32_t at = call.memory.get(call.arg(1) + 8 * i);
    const uint32_t n = call.memory.get(call.arg(1) + 8 * i + 4);
    if (call.arg(0) == 1) call.guest.out.append(reinterpret_cast<const char*>(call.memory.data) + at, n);
    total += n;
  }
  call.memory.put(call.arg(3), total);
  return call.done();
}
wasm_trap_t* no_events(const Call& call) {
  call.memory.put(call.arg(3), 0);
  return call.done();
}
wasm_trap_t* leave(const Call& /*call*/) { return wasmtime_trap_new("exit", 4); }

wasm_functype_t* function_type(std::string_view params, bool returns) {
  std::vector<wasm_valtype_t*> types;
  for (const char c : params) types.push_back(c == 'I' ? wasm_valtype_new_i64() : wasm_valtype_new_i32());
  wasm_valtype_vec_t in;
  wasm_valtype_vec_new(&in, types.size(), types.data());
  wasm_valtype_vec_t out;
  wasm_valtype_t* result = returns ? wasm_valtype_new_i32() : nullptr;
  wasm_valtype_vec_new(&out, returns ? 1 : 0, &result);
  return wasm_functype_new(&in, &out);
}

struct Row {
  const char* name;
  const char* params;
  wasmtime_func_unchecked_callback_t callback;
};
constexpr Row kRows[] = {
    {"args_get", "ii", import<args>},
    {"args_sizes_get", "ii", import<args_sizes>},
    {"clock_time_get", "iIi", import<clock_time>},
    {"environ_get", "ii", import<ok>},
    {"environ_sizes_get", "ii", import<no_environment>},
    {"fd_close", "i", import<ok>},
    {"fd_fdstat_get", "ii", import<fdstat>},
    {"fd_fdstat_set_flags", "ii", import<ok>},
    {"fd_prestat_dir_name", "iii", import<badf>},
    {"fd_prestat_get", "ii", import<badf>},
    {"fd_read", "iiii", import<read>},
    {"fd_seek", "iIii", import<badf>},
    {"fd_write", "iiii", import<write>},
    {"poll_oneoff", "iiii", import<no_events>},
    {"random_get", "ii", import<random_bytes>},
    {"sched_yield", "", import<ok>},
};

}  // namespace

struct BareLoop::State {
  wasm_engine_t* engine = nullptr;
  wasmtime_module_t* module = nullptr;
  wasmtime_linker_t* linker = nullptr;
  wasmtime_instance_pre_t* pre = nullptr;

  void define(const char* name, std::string_view params, bool returns, wasmtime_func_unchecked_callback_t callback) const {
    constexpr std::string_view kWasi = "wasi_snapshot_preview1";
    wasm_functype_t* type = function_type(params, returns);
    if (wasmtime_error_t* error = wasmtime_linker_define_func_unchecked(linker, kWasi.data(), kWasi.size(), name,
                                                                        std::strlen(name), type, callback, nullptr, nullptr)) {
      give_up(name, error);
    }
    wasm_functype_delete(type);
  }
};

BareLoop::BareLoop(const engine::Engine& engine, Fd compiled) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.engine = engine.get();
  char message[256] = "";
  s.module = subako_module_from_fd(s.engine, compiled.release(), message, sizeof message);
  if (s.module == nullptr) {
    std::fprintf(stderr, "%s\n", message);
    std::exit(1);
  }
  s.linker = wasmtime_linker_new(s.engine);
  for (const Row& row : kRows) s.define(row.name, row.params, true, row.callback);
  s.define("proc_exit", "i", false, import<leave>);
  if (wasmtime_error_t* error = wasmtime_linker_define_unknown_imports_as_traps(s.linker, s.module)) give_up("link", error);
  if (wasmtime_error_t* error = wasmtime_linker_instantiate_pre(s.linker, s.module, &s.pre)) give_up("link", error);
}

BareLoop::~BareLoop() {
  wasmtime_instance_pre_delete(state_->pre);
  wasmtime_linker_delete(state_->linker);
  wasmtime_module_delete(state_->module);
}

std::string BareLoop::call(std::string_view request_line) {
  Guest guest{.in = request_line, .out = {}, .memory = {}};
  wasmtime_store_t* store = wasmtime_store_new(state_->engine, &guest, nullptr);
  wasmtime_context_t* context = wasmtime_store_context(store);
  wasmtime_context_set_epoch_deadline(context, uint64_t{1} << 40U);
  wasm_trap_t* trap = nullptr;
  wasmtime_error_t* error = nullptr;
  wasmtime_instance_t instance;
  wasmtime_call_future_t* future =
      wasmtime_instance_pre_instantiate_async(state_->pre, context, &instance, &trap, &error);
  while (!wasmtime_call_future_poll(future)) {
  }
  wasmtime_call_future_delete(future);
  if (error != nullptr) give_up("instantiate", error);
  wasmtime_extern_t start;
  wasmtime_instance_export_get(context, &instance, "_start", 6, &start);
  future = wasmtime_func_call_async(context, &start.of.func, nullptr, 0, nullptr, 0, &trap, &error);
  while (!wasmtime_call_future_poll(future)) {
  }
  wasmtime_call_future_delete(future);
  if (error != nullptr) wasmtime_error_delete(error);  // proc_exit
  if (trap != nullptr) wasm_trap_delete(trap);
  wasmtime_store_delete(store);
  return std::move(guest.out);
}

}  // namespace subako::bench
