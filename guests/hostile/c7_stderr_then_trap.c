// Writes 64 KiB and more of three-byte characters to stderr, then traps: the 4 KiB that are told begin in
// mid-character.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  (void)request;
  for (int i = 0; i < 30000; i++) fputs("\xe3\x81\x82", stderr);
  fputs("the end", stderr);
  __builtin_trap();
}
