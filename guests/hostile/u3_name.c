// Lists a tool whose name has an upper-case letter and a space.
#include "upload.h"

static void list(const mcp_request* request) {
  upload_list(request, TOOL("Say Hello"));
}

int main(void) {
  return upload(NULL, list);
}
