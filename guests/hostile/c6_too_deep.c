// Answers with arrays nested over 120 levels.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_begin(request);
  fputs("\"result\":{\"content\":[],\"structuredContent\":", stdout);
  for (int i = 0; i < 200; i++) putchar('[');
  for (int i = 0; i < 200; i++) putchar(']');
  putchar('}');
  mcp_end();
}
