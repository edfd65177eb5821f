// Answers what it is told to: results with pictures, links to pictures, and what only claims to be one. Or
// puts a link in the place of a folder first.
#include <errno.h>
#include <unistd.h>

#include "mcp.h"

static void say(const mcp_request* request) {
  mcp_json content = mcp_get(request->arguments, "content");
  if (content.at == NULL || *content.at != '[') return mcp_error(request, "content must be an array");
  mcp_begin(request);
  printf("\"result\":{\"content\":%.*s}", (int)content.size, content.at);
  mcp_end();
}

static void swap_and_say(const mcp_request* request) {
  char* folder = mcp_string(mcp_get(request->arguments, "folder"));
  char* target = mcp_string(mcp_get(request->arguments, "target"));
  if (folder == NULL || target == NULL) return mcp_error(request, "folder and target must be strings");
  char aside[1200];
  snprintf(aside, sizeof aside, "%.1000s.aside", folder);
  if (rename(folder, aside) != 0 || symlink(target, folder) != 0) return mcp_error(request, strerror(errno));
  say(request);
}

int main(void) {
  static const mcp_tool tools[] = {
      {"say", "Answers with these blocks, byte for byte.",
       "{\"type\":\"object\",\"properties\":{\"content\":{\"type\":\"array\"}},\"required\":[\"content\"]}",
       say},
      {"swap_and_say", "As say, once `folder` is a link to `target`.", "{\"type\":\"object\"}", swap_and_say},
  };
  return mcp_serve(tools, sizeof tools / sizeof *tools);
}
