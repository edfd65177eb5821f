// Ends its answer with a carriage return and a newline, which is fine.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_begin(request);
  fputs("\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"two ends\"}]}}\r\n", stdout);
  fflush(stdout);
}
