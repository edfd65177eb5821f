// Has six tools of 50 KiB each, over 256 KiB together.
#include "upload.h"

static void list(const mcp_request* request) {
  char* filling = upload_repeat("x", 50 * 1024);
  mcp_begin(request);
  fputs("\"result\":{\"tools\":[", stdout);
  for (int i = 0; i < 6; i++) {
    printf("%s{\"name\":\"t%d\",\"inputSchema\":{\"type\":\"object\",\"title\":\"%s\"}}", i == 0 ? "" : ",",
           i, filling);
  }
  fputs("]}", stdout);
  mcp_end();
}

int main(void) {
  return upload(NULL, list);
}
