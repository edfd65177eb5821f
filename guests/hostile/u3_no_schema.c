// Lists a tool without an inputSchema.
#include "upload.h"

static void list(const mcp_request* request) {
  upload_list(request, "{\"name\":\"bare\"}");
}

int main(void) {
  return upload(NULL, list);
}
