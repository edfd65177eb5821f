// Sleeps until its time is up.
#include <unistd.h>

#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  for (;;) sleep(1000);
}
