// Breaks a rule in each of three tools: all are reported at once.
#include "upload.h"

static void list(const mcp_request* request) {
  upload_list(request, TOOL("Bad Name") ",{\"name\":\"no_schema\"},"
                       "{\"name\":\"number\",\"description\":7,\"inputSchema\":" OBJECT "}," TOOL("fine"));
}

int main(void) {
  return upload(NULL, list);
}
