// Writes a line of over 1 MiB that never ends.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  for (;;) fputs("{\"jsonrpc\":\"2.0\",", stdout);
}
