// Answers, and writes a line of log to stdout after end of file.
#include "misbehave.h"

static void after_eof(void) {
  puts("done, bye");
}

static void misbehave(const mcp_request* request) {
  atexit(after_eof);
  mcp_text(request, "answered");
}
