// Has an inputSchema of an array.
#include "upload.h"

static void list(const mcp_request* request) {
  upload_list(request, "{\"name\":\"lists\",\"inputSchema\":{\"type\":\"array\"}}");
}

int main(void) {
  return upload(NULL, list);
}
