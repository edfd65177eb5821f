// Logs to stdout, as so many programs do.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  puts("starting the work...");
  mcp_text(request, "after a line of log");
}
