// Answers with an empty object: neither content nor structuredContent.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_result(request, "{}");
}
