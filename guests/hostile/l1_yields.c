// Yields until its time is up.
#include <sched.h>

#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  for (;;) sched_yield();
}
