// Lists no tool at all.
#include "upload.h"

static void list(const mcp_request* request) {
  upload_list(request, "");
}

int main(void) {
  return upload(NULL, list);
}
