// Lists 65 tools.
#include "upload.h"

static void list(const mcp_request* request) {
  mcp_begin(request);
  fputs("\"result\":{\"tools\":[", stdout);
  for (int i = 0; i < 65; i++)
    printf("%s{\"name\":\"t%d\",\"inputSchema\":" OBJECT "}", i == 0 ? "" : ",", i);
  fputs("]}", stdout);
  mcp_end();
}

int main(void) {
  return upload(NULL, list);
}
