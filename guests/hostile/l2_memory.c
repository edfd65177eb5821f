// Grows its memory past 512 MiB, is refused, and goes on.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  size_t pages = 0;
  while (__builtin_wasm_memory_grow(0, 256) != (size_t)-1) pages += 256;
  int whole = __builtin_wasm_memory_grow(0, 65536) == (size_t)-1;
  size_t mib = __builtin_wasm_memory_size(0) / 16;
  mcp_textf(request, "%s %s", mib > 490 && mib <= 512 && pages > 0 ? "stopped before 512 MiB" : "not stopped",
            whole ? "and goes on" : "but got 4 GiB");
}
