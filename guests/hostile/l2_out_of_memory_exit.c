// Runs out of memory and exits with 1.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  for (;;) {
    char* block = malloc(16 << 20);
    if (block == NULL) break;
    *(volatile char*)block = 1;
  }
  mcp_text(request, "too little memory");
  _Exit(1);
}
