// Exits with 0 without an answer.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  exit(0);
}
