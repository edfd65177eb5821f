#include "engine/engine.h"

#include <sys/mman.h>
#include <wasm.h>
#include <wasmtime.h>

#include "base/limits.h"
#include "subako_engine_shims.h"

namespace subako::engine {

namespace {

// What a guest's own stack (limits::kGuestStackBytes) leaves of a fiber's is for host functions, which must never run out
// of it.
constexpr size_t kFiberStackBytes = 2 * limits::kMiB;

// Wasmtime's own state of one instance: grows with a module's functions and globals. A bound, not a reservation.
constexpr size_t kInstanceBytes = 64 * limits::kMiB;

void set_features(wasm_config_t* config) {
  wasmtime_config_wasm_bulk_memory_set(config, true);
  wasmtime_config_wasm_multi_value_set(config, true);
  wasmtime_config_wasm_reference_types_set(config, true);
  wasmtime_config_wasm_simd_set(config, true);
  wasmtime_config_wasm_branch_hinting_set(config, true);  // a custom section only

  wasmtime_config_shared_memory_set(config, false);
  wasmtime_config_wasm_custom_page_sizes_set(config, false);
  wasmtime_config_wasm_exceptions_set(config, false);
  wasmtime_config_wasm_function_references_set(config, false);
  wasmtime_config_wasm_gc_set(config, false);
  wasmtime_config_wasm_memory64_set(config, false);
  wasmtime_config_wasm_multi_memory_set(config, false);
  wasmtime_config_wasm_relaxed_simd_set(config, false);
  wasmtime_config_wasm_stack_switching_set(config, false);
  wasmtime_config_wasm_tail_call_set(config, false);
  wasmtime_config_wasm_wide_arithmetic_set(config, false);
  subako_config_wasm2(config);
}

wasm_config_t* make_config() {
  wasm_config_t* config = wasm_config_new();
  set_features(config);
  wasmtime_config_strategy_set(config, WASMTIME_STRATEGY_CRANELIFT);
  wasmtime_config_cranelift_opt_level_set(config, WASMTIME_OPT_LEVEL_SPEED);
  wasmtime_config_cranelift_debug_verifier_set(config, false);
  wasmtime_config_cranelift_nan_canonicalization_set(config, false);
  wasmtime_config_parallel_compilation_set(config, true);
  wasmtime_config_debug_info_set(config, false);
  wasmtime_config_native_unwind_info_set(config, false);
  wasmtime_config_consume_fuel_set(config, false);
  wasmtime_config_epoch_interruption_set(config, true);
  wasmtime_config_signals_based_traps_set(config, true);
  wasmtime_config_max_wasm_stack_set(config, limits::kGuestStackBytes);
  wasmtime_config_async_stack_size_set(config, kFiberStackBytes);
  // The whole 32-bit address space and a guard behind it: generated code needs no bounds checks.
  wasmtime_config_memory_reservation_set(config, 4 * limits::kGiB);
  wasmtime_config_memory_guard_size_set(config, 32 * limits::kMiB);
  wasmtime_config_memory_reservation_for_growth_set(config, 0);
  wasmtime_config_memory_may_move_set(config, false);
  wasmtime_config_memory_init_cow_set(config, true);
  return config;
}

void set_pool(wasm_config_t* config, uint32_t guests, uint64_t kept_bytes) {
  wasmtime_pooling_allocation_config_t* pool = wasmtime_pooling_allocation_config_new();
  wasmtime_pooling_allocation_config_total_core_instances_set(pool, guests);
  // Two: a guest that uses references gets a heap for them, which takes a memory of the pool.
  wasmtime_pooling_allocation_config_total_memories_set(pool, 2 * guests);
  wasmtime_pooling_allocation_config_total_stacks_set(pool, guests);
  wasmtime_pooling_allocation_config_total_gc_heaps_set(pool, guests);
  // Every guest may have all the tables that M5 allows: else one could use up another's.
  wasmtime_pooling_allocation_config_total_tables_set(pool, guests * limits::kTables);
  wasmtime_pooling_allocation_config_max_tables_per_module_set(pool, limits::kTables);
  wasmtime_pooling_allocation_config_max_memories_per_module_set(pool, 1);
  wasmtime_pooling_allocation_config_max_memory_size_set(pool, limits::kMemoryBytes);
  wasmtime_pooling_allocation_config_table_elements_set(pool, limits::kTableElements);
  wasmtime_pooling_allocation_config_max_core_instance_size_set(pool, kInstanceBytes);
  wasmtime_pooling_allocation_config_linear_memory_keep_resident_set(pool, kept_bytes);
  wasmtime_pooling_allocation_config_table_keep_resident_set(pool, kept_bytes > 0 ? limits::kKeptTableBytes : 0);
  wasmtime_pooling_allocation_config_async_stack_keep_resident_set(pool, kept_bytes > 0 ? limits::kKeptStackBytes : 0);
  wasmtime_pooling_allocation_strategy_set(config, pool);
  wasmtime_pooling_allocation_config_delete(pool);
}

// A library built with other features than its headers say has values of another size, and corrupts in silence.
Result<void> check_library() {
  if (subako_val_size() != sizeof(wasmtime_val_t) || subako_val_raw_size() != sizeof(wasmtime_val_raw_t)) {
    return fail(Code::kInternal,
                "the engine library doesn't fit its headers (a value has another size): rebuild it with engine/build.sh");
  }
  return {};
}

}  // namespace

void Engine::Delete::operator()(wasm_engine_t* engine) const { wasm_engine_delete(engine); }

Result<Engine> Engine::for_compiling() {
  TRY_VOID(check_library());
  return Engine(wasm_engine_new_with_config(make_config()), 0);
}

Result<Engine> Engine::for_running(uint32_t guests, uint64_t kept_bytes) {
  TRY_VOID(check_library());
  wasm_config_t* config = make_config();
  set_pool(config, guests, kept_bytes);
  return Engine(wasm_engine_new_with_config(config), kept_bytes);
}

std::string Engine::compatibility() const {
  std::string bytes(subako_engine_compatibility(engine_.get(), nullptr, 0), '\0');
  subako_engine_compatibility(engine_.get(), reinterpret_cast<uint8_t*>(bytes.data()), bytes.size());
  return bytes;
}

// A freed slot holds what its next instance is to find there: zeros, or its module's image. Both are what the mapping itself gives where
// it has no pages of its own.
void Engine::give_back_kept() const {
  if (kept_bytes_ == 0) return;
  for (uint8_t* memory : *memories_) (void)madvise(memory, kept_bytes_, MADV_DONTNEED);
}

void Engine::tick() const {
  ticks_->fetch_add(1, std::memory_order_relaxed);
  wasmtime_engine_increment_epoch(engine_.get());
}

}  // namespace subako::engine
