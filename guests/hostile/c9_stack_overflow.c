// Calls itself for ever.
#include "misbehave.h"

static volatile int depth;

__attribute__((noinline)) static int deeper(int level) {
  depth = level;
  return deeper(level + 1) + depth;
}

static void misbehave(const mcp_request* request) {
  mcp_textf(request, "%d", deeper(0));
}
