// Has a schema keyword with a value of the wrong type.
#include "upload.h"

static void list(const mcp_request* request) {
  upload_list(request, "{\"name\":\"odd\",\"inputSchema\":{\"type\":\"object\",\"required\":\"name\"}}");
}

int main(void) {
  return upload(NULL, list);
}
