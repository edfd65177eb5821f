// Writes an empty line before its answer.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  putchar('\n');
  mcp_text(request, "after a blank line");
}
