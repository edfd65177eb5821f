// Has prompts and no tools.
#include "upload.h"

static void discover(const mcp_request* request) {
  mcp_result(request, "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"prompts\":{}}}");
}

int main(void) {
  return upload(discover, NULL);
}
