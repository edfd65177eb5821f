// Answers, and exits with 3 at end of file.
#include "misbehave.h"

static void after_eof(void) {
  _Exit(3);
}

static void misbehave(const mcp_request* request) {
  atexit(after_eof);
  mcp_text(request, "answered");
}
