// A package with one tool, `misbehave`, which its program defines: honest until it is called. What it does
// after end of file goes into after_eof(), registered with atexit().
#pragma once

#include "mcp.h"

// Not inlined: backtraces must show it.
__attribute__((noinline)) static void misbehave(const mcp_request* request);

int main(void) {
  static const mcp_tool tools[] = {
      {"misbehave", "Does what its package is named after.", "{\"type\":\"object\"}", misbehave}};
  return mcp_serve(tools, 1);
}
