// Answers with bytes that are no UTF-8.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_text(request, "caf\xe9");
}
