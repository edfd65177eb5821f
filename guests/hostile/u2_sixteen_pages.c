// Lists four tools on each of 16 pages, the most there may be.
#include "upload.h"

static void list(const mcp_request* request) {
  static int page;
  mcp_begin(request);
  fputs("\"result\":{\"tools\":[", stdout);
  for (int i = 0; i < 4; i++)
    printf("%s{\"name\":\"t%d_%d\",\"inputSchema\":" OBJECT "}", i == 0 ? "" : ",", page, i);
  fputs(++page < 16 ? "],\"nextCursor\":\"\"}" : "],\"nextCursor\":null}", stdout);
  mcp_end();
}

int main(void) {
  return upload(NULL, list);
}
