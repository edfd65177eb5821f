// Answers with an isError that is no boolean.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_result(request, "{\"content\":[],\"isError\":\"no\"}");
}
