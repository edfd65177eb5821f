#include "engine/instance.h"

#include <optional>
#include <string_view>

#include "base/limits.h"
#include "engine/host_call.h"
#include "engine/messages.h"
#include "subako_engine_shims.h"

namespace subako::engine {

// Wasmtime's futures point into this object; it doesn't move.
struct Instance::Running {
  const Engine* engine = nullptr;
  std::shared_ptr<const LinkedModule> module;
  InstanceState state;
  subako_limits limits{.max_bytes = limits::kMemoryBytes, .max_elements = limits::kTableElements, .bytes = 0,
                       .elements = 0, .refused = 0, .memory = nullptr, .huge_from = limits::kHugePagesFrom,
                       .may_grow = nullptr, .env = nullptr};
  Growth* growth = nullptr;
  bool growing = false;  // it was said Later
  wasmtime_store_t* store = nullptr;
  wasmtime_context_t* context = nullptr;
  wasmtime_call_future_t* future = nullptr;  // instantiating, then running _start
  wasmtime_instance_t instance{};
  wasmtime_func_t start{};
  wasm_trap_t* trap = nullptr;
  wasmtime_error_t* error = nullptr;
  bool started = false;
  std::optional<Finish> finish;

  ~Running() {
    if (future != nullptr) wasmtime_call_future_delete(future);
    if (trap != nullptr) wasm_trap_delete(trap);
    if (error != nullptr) wasmtime_error_delete(error);
    if (store != nullptr) wasmtime_store_delete(store);
  }

  static int may_grow(void* env, uint64_t bytes) noexcept {
    Running& self = *static_cast<Running*>(env);
    switch (self.growth->may_grow(bytes)) {
      case Growth::Answer::kNo:
        return SUBAKO_NO;
      case Growth::Answer::kYes:
        return SUBAKO_YES;
      case Growth::Answer::kLater:
        self.growing = true;
        return SUBAKO_LATER;
    }
    return SUBAKO_NO;
  }

  void drop_future() {
    wasmtime_call_future_delete(future);
    future = nullptr;
  }

  bool run_start() {
    wasmtime_extern_t memory;
    if (wasmtime_instance_export_get(context, &instance, "memory", 6, &memory) && memory.kind == WASMTIME_EXTERN_MEMORY) {
      state.memory = memory.of.memory;
      uint8_t* const data = wasmtime_memory_data(context, &memory.of.memory);
      subako_limits_memory(&limits, data);
      engine->note_memory(data);
    }
    wasmtime_extern_t found;
    if (!wasmtime_instance_export_get(context, &instance, "_start", 6, &found) || found.kind != WASMTIME_EXTERN_FUNC) {
      finish = NotStarted{"the module exports no function _start"};
      return false;
    }
    start = found.of.func;
    started = true;
    future = wasmtime_func_call_async(context, &start, nullptr, 0, nullptr, 0, &trap, &error);
    return true;
  }

  // The guest was unwound: by a host function of ours, by us, by a trap of its own, or it never came to be.
  Finish why_unwound() {
    std::vector<std::string> trace;
    wasm_frame_vec_t frames;
    if (trap != nullptr) {
      wasm_trap_trace(trap, &frames);
    } else {
      wasmtime_error_wasm_trace(error, &frames);
    }
    trace = backtrace(&frames);
    wasm_frame_vec_delete(&frames);

    if (const auto* exit = std::get_if<abi::Exit>(&state.ended)) return Exited{exit->code};
    if (std::holds_alternative<abi::Halt>(state.ended)) return Halted{};
    if (const auto* broke = std::get_if<abi::Trap>(&state.ended)) return Trapped{broke->message, std::move(trace)};
    if (trap != nullptr) return Trapped{trap_message(trap), std::move(trace)};
    if (state.interrupted) return Interrupted{std::move(trace)};
    wasmtime_error_t* told = error;
    error = nullptr;
    std::string message = take_message(told);
    if (started) return Trapped{std::move(message), std::move(trace)};
    return NotStarted{std::move(message)};
  }
};

Instance::Instance(const Engine& engine, std::shared_ptr<const LinkedModule> module, std::vector<void*> hosts,
                   Growth* growth)
    : running_(std::make_unique<Running>()) {
  Running& r = *running_;
  r.engine = &engine;
  r.module = std::move(module);
  r.state.hosts = std::move(hosts);
  r.state.ticks = &engine.ticks();
  r.store = wasmtime_store_new(engine.get(), &r.state, nullptr);
  r.context = wasmtime_store_context(r.store);
  r.growth = growth;
  if (growth != nullptr) {
    r.limits.may_grow = Running::may_grow;
    r.limits.env = &r;
  }
  subako_store_limits(r.store, &r.limits);
  wasmtime_store_epoch_deadline_callback(r.store, on_epoch, &r.state, nullptr);
  r.future = wasmtime_instance_pre_instantiate_async(r.module->get(), r.context, &r.instance, &r.trap, &r.error);
}

Instance::~Instance() = default;

Instance::State Instance::resume() {
  Running& r = *running_;
  // Ticks of the turns of others don't count: else who has waited would give back its turn at once.
  wasmtime_context_set_epoch_deadline(r.context, 1);
  while (!r.finish) {
    r.state.waits = nullptr;
    r.growing = false;
    r.state.turn_began = r.state.ticks->load(std::memory_order_relaxed);
    if (!wasmtime_call_future_poll(r.future)) {
      if (r.growing) return State::kGrowing;
      return r.state.waits != nullptr ? State::kWaiting : State::kYielded;
    }
    r.drop_future();
    if (r.trap != nullptr || r.error != nullptr) {
      r.finish = r.why_unwound();
    } else if (r.started) {
      r.finish = Returned{};
    } else if (r.run_start()) {
      return State::kStarted;
    }
  }
  return State::kFinished;
}

size_t Instance::waits_for() const { return running_->state.waits->host; }

void Instance::interrupt() { running_->state.interrupted = true; }

const Finish& Instance::finish() const { return *running_->finish; }

bool Instance::started() const { return running_->started; }

uint64_t Instance::memory_bytes() const { return running_->limits.bytes; }

bool Instance::growth_refused() const { return running_->limits.refused > 0; }

}  // namespace subako::engine
