// Has a next page after every page.
#include "upload.h"

static void list(const mcp_request* request) {
  static int page;
  mcp_begin(request);
  printf("\"result\":{\"tools\":[{\"name\":\"t%d\",\"inputSchema\":" OBJECT "}],\"nextCursor\":\"more\"}",
         page++);
  mcp_end();
}

int main(void) {
  return upload(NULL, list);
}
