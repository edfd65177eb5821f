// Traps before it answers.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  fputs("about to trap\n", stderr);
  __builtin_trap();
}
