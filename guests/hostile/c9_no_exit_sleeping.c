// Answers, and sleeps for ever after end of file.
#include <unistd.h>

#include "misbehave.h"

static void after_eof(void) {
  sleep(1000000);
}

static void misbehave(const mcp_request* request) {
  atexit(after_eof);
  mcp_text(request, "answered");
}
