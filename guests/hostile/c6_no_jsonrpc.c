// Answers without the member jsonrpc.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  printf("{\"id\":%.*s,\"result\":{\"content\":[]}}\n", (int)request->id.size, request->id.at);
  fflush(stdout);
}
