// Speaks another revision only.
#include "upload.h"

static void discover(const mcp_request* request) {
  mcp_result(request, "{\"supportedVersions\":[\"2025-06-18\"],\"capabilities\":{\"tools\":{}}}");
}

int main(void) {
  return upload(discover, NULL);
}
