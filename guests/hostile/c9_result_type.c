// Answers with a resultType of its own.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_result(request, "{\"resultType\":\"input_required\",\"content\":[]}");
}
