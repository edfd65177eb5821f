// Answers with a JSON-RPC error.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_begin(request);
  fputs("\"error\":{\"code\":-32603,\"message\":\"the database is gone\"}", stdout);
  mcp_end();
}
