// Logs to stdout before it answers.
#include "upload.h"

static void list(const mcp_request* request) {
  puts("listing...");
  upload_list(request, TOOL("fine"));
}

int main(void) {
  return upload(NULL, list);
}
