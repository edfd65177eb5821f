// Grows a table past 1,000,000 entries, is refused, and goes on.
#include "misbehave.h"

static __externref_t table[0];

static void misbehave(const mcp_request* request) {
  int fits = __builtin_wasm_table_grow(table, __builtin_wasm_ref_null_extern(), 500000) != -1;
  int over = __builtin_wasm_table_grow(table, __builtin_wasm_ref_null_extern(), 1000000) != -1;
  mcp_text(request, fits && !over ? "stopped before 1,000,000 entries" : "not stopped");
}
