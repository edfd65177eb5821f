// Answers with a number where the id was a string.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  fputs("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n", stdout);
  fflush(stdout);
}
