// Has the longest name and description that there may be, null members and members of its own.
#include "upload.h"

static void list(const mcp_request* request) {
  mcp_begin(request);
  printf(
      "\"result\":{\"tools\":[{\"name\":\"%s\",\"description\":\"%s\",\"inputSchema\":" OBJECT
      ",\"outputSchema\":null,\"title\":\"A title\",\"annotations\":{\"readOnlyHint\":true},\"x-mine\":1}]}",
      upload_repeat("n", 64), upload_repeat("\xc3\xa9", 1024));
  mcp_end();
}

int main(void) {
  return upload(NULL, list);
}
