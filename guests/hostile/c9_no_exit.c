// Answers, and computes for ever after end of file.
#include "misbehave.h"

static void after_eof(void) {
  for (volatile unsigned turns = 0;; turns++) {
  }
}

static void misbehave(const mcp_request* request) {
  atexit(after_eof);
  mcp_text(request, "answered");
}
