// Sends a request of its own and waits for the answer.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  fputs("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\",\"params\":{}}\n", stdout);
  fflush(stdout);
  getchar();
}
