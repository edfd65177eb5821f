// Answers with blocks that are broken or unknown, which is fine: each becomes a note.
#include "misbehave.h"

static void misbehave(const mcp_request* request) {
  mcp_result(
      request,
      "{\"content\":[{\"type\":\"text\",\"text\":\"first\"},{\"type\":\"text\"},{\"type\":\"hologram\"},7,"
      "{\"type\":\"image\",\"data\":\"!\",\"mimeType\":\"image/png\"},"
      "{\"type\":\"resource_link\",\"uri\":\"https://example.com/report.pdf\",\"name\":\"report.pdf\"},"
      "{\"type\":\"resource_link\",\"uri\":\"volume:///../etc/passwd\",\"name\":\"passwd\"},"
      "{\"type\":\"text\",\"text\":\"last\"}]}");
}
