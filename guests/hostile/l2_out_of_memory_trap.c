// Runs out of memory and aborts.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  for (;;) {
    char* block = malloc(16 << 20);
    if (block == NULL) abort();
    *(volatile char*)block = 1;
  }
  mcp_text(request, "never");
}
