// Has a schema that refers to elsewhere: a warning, and nothing is fetched.
#include "upload.h"

static void list(const mcp_request* request) {
  upload_list(request,
              "{\"name\":\"remote\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":"
              "\"https://schemas.invalid/a.json\"}}}}");
}

int main(void) {
  return upload(NULL, list);
}
