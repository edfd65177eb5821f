// C declarations of lib.rs, inspect.rs and waiting.rs: what Wasmtime's C API lacks. Included by src/engine only.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wasm.h>
#include <wasmtime.h>

#ifdef __cplusplus
extern "C" {
#endif

int subako_validate_wasm2(const uint8_t* data, size_t len, char* message, size_t capacity, uint64_t* offset);

void subako_config_wasm2(wasm_config_t* config);

typedef struct subako_limits {
  uint64_t max_bytes;
  uint64_t max_elements;
  uint64_t bytes;
  uint64_t elements;
  uint64_t refused;
  uint8_t* memory;     // null: not known yet
  uint64_t huge_from;  // from here on the memory is in huge pages
  int (*may_grow)(void* env, uint64_t bytes);  // null: whatever the limits allow; called again after SUBAKO_LATER
  void* env;
} subako_limits;
enum { SUBAKO_NO = 0, SUBAKO_YES = 1, SUBAKO_LATER = 2 };
void subako_store_limits(wasmtime_store_t* store, subako_limits* limits);
void subako_limits_memory(subako_limits* limits, uint8_t* memory);

wasmtime_module_t* subako_module_from_fd(const wasm_engine_t* engine, int fd, char* message, size_t capacity);

// What a callback says: the call is over and `result` written, it is to be asked again, the guest ends here.
enum { SUBAKO_DONE = 0, SUBAKO_WAITS = 1, SUBAKO_ENDS = 2 };
typedef int (*subako_waiting_callback)(void* env, wasmtime_caller_t* caller, const uint64_t* params, int32_t* result);
int subako_linker_define_waiting(wasmtime_linker_t* linker, const char* module, size_t module_len, const char* name,
                                 size_t name_len, const char* signature, size_t signature_len,
                                 subako_waiting_callback callback, void* env, char* message, size_t capacity);

size_t subako_engine_compatibility(const wasm_engine_t* engine, uint8_t* out, size_t capacity);

size_t subako_val_size(void);
size_t subako_val_raw_size(void);

typedef struct subako_item {
  uint8_t what;   // 'i' import, 'e' export, 'm' memory, 't' table
  uint8_t kind;   // 'f' function, 'm' memory, 't' table, 'g' global, 'x' tag
  uint8_t typed;  // 1: params and results are known
  const uint8_t* module;
  size_t module_len;
  const uint8_t* name;
  size_t name_len;
  const uint8_t* params;  // 'i' i32, 'I' i64, 'f' f32, 'F' f64, 'v' v128, 'r' a reference
  size_t params_len;
  const uint8_t* results;
  size_t results_len;
  uint64_t minimum;  // of a memory in bytes, of a table in elements; saturated
} subako_item;
void subako_inspect_module(const uint8_t* data, size_t len, void (*callback)(void* context, const subako_item* item),
                           void* context);

#ifdef __cplusplus
}
#endif
