// Lists a tool of the same name on two pages.
#include "upload.h"

static void list(const mcp_request* request) {
  static int page;
  mcp_begin(request);
  printf("\"result\":{\"tools\":[" TOOL("twin") "]%s}", page++ == 0 ? ",\"nextCursor\":\"two\"" : "");
  mcp_end();
}

int main(void) {
  return upload(NULL, list);
}
