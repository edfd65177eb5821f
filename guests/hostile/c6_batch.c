// Answers with a batch: an array of messages.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  printf("[{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"content\":[]}}]\n", (int)request->id.size,
         request->id.at);
  fflush(stdout);
}
