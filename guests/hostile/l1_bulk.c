// Fills memory with bulk instructions, one of which takes long, until its time is up.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  size_t size = (size_t)256 << 20;
  char* volatile memory = malloc(size);
  if (memory == NULL) abort();
  for (int byte = 0;; byte++) memset(memory, byte, size);
}
