// Answers with a line of almost 1 MiB, which is fine.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  static char text[1000001];
  memset(text, 'x', sizeof text - 1);
  mcp_text(request, text);
}
