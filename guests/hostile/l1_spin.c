// Computes until its time is up.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  for (volatile unsigned turns = 0;; turns++) {
  }
}
