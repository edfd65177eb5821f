// Sends notifications before and after its answer, which is fine.
#include "misbehave.h"

#define PROGRESS "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n"

static void misbehave(const mcp_request* request) {
  fputs(PROGRESS PROGRESS, stdout);
  mcp_text(request, "between notifications");
  fputs(PROGRESS, stdout);
  fflush(stdout);
}
