// Exits with 0 right after its answer, without waiting for end of file, which is fine.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_text(request, "gone");
  exit(0);
}
