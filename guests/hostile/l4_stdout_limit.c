// Writes more than 1 MiB to stdout, all of it notifications.
#include "misbehave.h"

#define LOG                                                                                            \
  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"one more line of " \
  "log\"}}"

static void misbehave(const mcp_request* request) {
  for (int i = 0; i < 20000; i++) puts(LOG);
  mcp_text(request, "never");
}
