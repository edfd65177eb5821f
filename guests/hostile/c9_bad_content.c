// Answers with content that is no array.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_result(request, "{\"content\":\"text\"}");
}
