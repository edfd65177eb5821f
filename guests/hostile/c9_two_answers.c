// Answers twice.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_text(request, "once");
  mcp_text(request, "twice");
}
