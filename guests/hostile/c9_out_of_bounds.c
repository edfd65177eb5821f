// Reads far outside its memory.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  volatile const char* far = (const char*)0xfffffff0u;
  if (*far == 0) mcp_text(request, "read it");
}
