// Has an outputSchema of over 64 KiB.
#include "upload.h"

static void list(const mcp_request* request) {
  mcp_begin(request);
  printf("\"result\":{\"tools\":[{\"name\":\"big\",\"inputSchema\":" OBJECT
         ",\"outputSchema\":{\"title\":\"%s\"}}]}",
         upload_repeat("x", 65536));
  mcp_end();
}

int main(void) {
  return upload(NULL, list);
}
