// Writes terminal escapes, a bell and broken UTF-8 to stderr and answers.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  fputs("\x1b[31mred\x1b[0m \x1b]0;title\x07 caf\xe9 \xe2\x80\xae ok\n", stderr);
  mcp_text(request, "escaped \x1b[31m too");
}
