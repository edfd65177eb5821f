// Ends without a newline after its answer, which is fine: bytes after the last newline count as a line at
// exit.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_begin(request);
  fputs("\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"no newline\"}]}}", stdout);
  exit(0);
}
