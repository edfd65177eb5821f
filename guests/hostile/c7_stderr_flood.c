// Writes 8 MiB to stderr and answers: no reader, however slow, may hold it up.
#include <unistd.h>

#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  static char block[4096];
  memset(block, 'x', sizeof block - 1);
  block[sizeof block - 1] = '\n';
  for (int i = 0; i < 2048; i++) write(2, block, sizeof block);
  mcp_text(request, "flooded");
}
