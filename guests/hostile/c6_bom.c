// Begins its answer with a byte order mark.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  fputs("\xef\xbb\xbf", stdout);
  mcp_text(request, "after a byte order mark");
}
