// Has a description of 1,025 characters.
#include "upload.h"

static void list(const mcp_request* request) {
  mcp_begin(request);
  printf("\"result\":{\"tools\":[{\"name\":\"wordy\",\"description\":\"%s\",\"inputSchema\":" OBJECT "}]}",
         upload_repeat("\xc3\xa9", 1025));
  mcp_end();
}

int main(void) {
  return upload(NULL, list);
}
