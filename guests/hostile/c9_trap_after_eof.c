// Answers, and traps after end of file.
#include "misbehave.h"

static void after_eof(void) {
  __builtin_trap();
}

static void misbehave(const mcp_request* request) {
  atexit(after_eof);
  mcp_text(request, "answered");
}
