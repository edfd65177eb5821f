// A package that misbehaves while it is checked at upload: its program gives the answers to server/discover
// and tools/list; NULL is an honest answer.
#pragma once

#include "mcp.h"

typedef void upload_answer(const mcp_request* request);

#define OBJECT "{\"type\":\"object\"}"
#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":" OBJECT "}"

static inline void upload_list(const mcp_request* request, const char* tools) {
  mcp_begin(request);
  printf("\"result\":{\"tools\":[%s]}", tools);
  mcp_end();
}

static inline int upload(upload_answer* discover, upload_answer* list) {
  mcp_request request;
  while (mcp_read(&request)) {
    if (strcmp(request.method, "server/discover") == 0) {
      discover != NULL ? discover(&request) : mcp_answer_discover(&request);
    } else {
      list != NULL ? list(&request) : upload_list(&request, TOOL("fine"));
    }
  }
  return 0;
}

// `count` times `text`, fresh.
static inline char* upload_repeat(const char* text, size_t count) {
  size_t size = strlen(text);
  char* out = malloc(size * count + 1);
  if (out == NULL) abort();
  for (size_t i = 0; i < count; i++) memcpy(out + i * size, text, size);
  out[size * count] = '\0';
  return out;
}
