// Reads to end of file before it answers, but end of file comes only after the answer.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  while (getchar() != EOF) {
  }
  mcp_text(request, "never");
}
