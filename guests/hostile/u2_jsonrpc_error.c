// Answers tools/list with a JSON-RPC error.
#include "upload.h"

static void list(const mcp_request* request) {
  mcp_begin(request);
  fputs("\"error\":{\"code\":-32601,\"message\":\"no such method\"}", stdout);
  mcp_end();
}

int main(void) {
  return upload(NULL, list);
}
