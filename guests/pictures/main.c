// Answers what it is told to: results with pictures, links to pictures, and what only claims to be one.
#include "mcp.h"

static void say(const mcp_request* request) {
  mcp_json content = mcp_get(request->arguments, "content");
  if (content.at == NULL || *content.at != '[') return mcp_error(request, "content must be an array");
  mcp_begin(request);
  printf("\"result\":{\"content\":%.*s}", (int)content.size, content.at);
  mcp_end();
}

int main(void) {
  static const mcp_tool tools[] = {
      {"say", "Answers with these blocks, byte for byte.",
       "{\"type\":\"object\",\"properties\":{\"content\":{\"type\":\"array\"}},\"required\":[\"content\"]}", say},
  };
  return mcp_serve(tools, sizeof tools / sizeof *tools);
}
