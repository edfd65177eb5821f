// Asks for the time until its own is up.
#include <time.h>

#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  for (struct timespec now;;) clock_gettime(CLOCK_REALTIME, &now);
}
