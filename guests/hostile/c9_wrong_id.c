// Answers an id that was not asked.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  fputs("{\"jsonrpc\":\"2.0\",\"id\":\"another\",\"result\":{\"content\":[]}}\n", stdout);
  fflush(stdout);
}
