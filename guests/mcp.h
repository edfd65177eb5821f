// mcp.h: a Subako tool in C, in this one header. Copy it beside your main.c:
//
//   #include "mcp.h"
//
//   static void greet(const mcp_request* request) {
//     char* name = mcp_string(mcp_get(request->arguments, "name"));
//     if (name == NULL) return mcp_error(request, "name must be a string");
//     mcp_textf(request, "Hello, %s!", name);
//   }
//
//   int main(void) {
//     static const mcp_tool tools[] = {
//         {"greet", "Greets someone by name.",
//          "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}",
//          greet},
//     };
//     return mcp_serve(tools, 1);
//   }
//
// Build: clang-19 --target=wasm32-wasi --sysroot=/usr -O2 main.c -o module.wasm
//
// A tool answers exactly once, by one of mcp_text, mcp_textf, mcp_error or mcp_result. stdout belongs to the
// protocol: log to stderr. Each call runs in an instance of its own that ends soon, so nothing here is freed.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- JSON that came in

// The bytes of one JSON value, inside the request's line; `at` is NULL where there is no such value.
typedef struct {
  const char* at;
  size_t size;
} mcp_json;

static inline const char* mcp_skip_space(const char* p, const char* end) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) p++;
  return p;
}

// From a value's first byte to the byte after it. The host sends well-formed JSON only, so brackets need no
// matching kinds.
static inline const char* mcp_skip_value(const char* p, const char* end) {
  int depth = 0;
  while (p < end) {
    if (*p == '"') {
      for (p++; p < end && *p != '"'; p++) {
        if (*p == '\\') p++;
      }
      p++;
    } else if (*p == '{' || *p == '[') {
      depth++;
      p++;
      continue;
    } else if (*p == '}' || *p == ']') {
      depth--;
      p++;
    } else if (depth > 0) {
      p++;
      continue;
    } else {  // a number or a word
      while (p < end && strchr(",]} \t\r\n", *p) == NULL) p++;
    }
    if (depth <= 0) break;
  }
  return p < end ? p : end;
}

static inline int mcp_hex4(const char* p) {
  int value = 0;
  for (int i = 0; i < 4; i++) {
    char c = p[i];
    value = value * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return value;
}

static inline char* mcp_put_utf8(char* out, int c) {
  if (c < 0x80) {
    *out++ = (char)c;
  } else if (c < 0x800) {
    *out++ = (char)(0xc0 | c >> 6);
    *out++ = (char)(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    *out++ = (char)(0xe0 | c >> 12);
    *out++ = (char)(0x80 | (c >> 6 & 0x3f));
    *out++ = (char)(0x80 | (c & 0x3f));
  } else {
    *out++ = (char)(0xf0 | c >> 18);
    *out++ = (char)(0x80 | (c >> 12 & 0x3f));
    *out++ = (char)(0x80 | (c >> 6 & 0x3f));
    *out++ = (char)(0x80 | (c & 0x3f));
  }
  return out;
}

// The text of a string, decoded to UTF-8; NULL where `value` is no string. An escaped NUL ends it early.
static inline char* mcp_string(mcp_json value) {
  if (value.at == NULL || *value.at != '"') return NULL;
  char* text = malloc(value.size);  // decoding only shrinks
  if (text == NULL) return NULL;
  char* out = text;
  const char* end = value.at + value.size - 1;
  for (const char* p = value.at + 1; p < end; p++) {
    if (*p != '\\') {
      *out++ = *p;
      continue;
    }
    static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
    p++;
    const char* escape = strchr(from, *p);
    if (*p == 'u') {
      int c = mcp_hex4(p + 1);
      p += 4;
      if (c >= 0xd800 && c < 0xdc00 &&
          end - p > 6) {  // the first half of a pair: the host lets no lone one through
        c = 0x10000 + ((c - 0xd800) << 10) + (mcp_hex4(p + 3) - 0xdc00);
        p += 6;
      }
      out = mcp_put_utf8(out, c);
    } else {
      *out++ = escape != NULL ? to[escape - from] : *p;
    }
  }
  *out = '\0';
  return text;
}

// The member of an object; of duplicates the last.
static inline mcp_json mcp_get(mcp_json object, const char* name) {
  mcp_json found = {NULL, 0};
  if (object.at == NULL || *object.at != '{') return found;
  const char* end = object.at + object.size;
  const char* p = mcp_skip_space(object.at + 1, end);
  while (p < end && *p == '"') {
    const char* after = mcp_skip_value(p, end);
    char* key = mcp_string((mcp_json){p, (size_t)(after - p)});
    p = mcp_skip_space(after, end);
    p = mcp_skip_space(p + 1, end);  // the colon
    after = mcp_skip_value(p, end);
    if (key != NULL && strcmp(key, name) == 0) found = (mcp_json){p, (size_t)(after - p)};
    free(key);
    p = mcp_skip_space(after, end);
    p = mcp_skip_space(p + 1, end);  // the comma, or the end
  }
  return found;
}

static inline double mcp_number(mcp_json value, double otherwise) {
  if (value.at == NULL || (*value.at != '-' && (*value.at < '0' || *value.at > '9'))) return otherwise;
  return strtod(value.at, NULL);
}

// ---- answers that go out

typedef struct {
  char* method;
  mcp_json id;
  mcp_json name;       // of tools/call
  mcp_json arguments;  // of tools/call: an object
} mcp_request;

static inline void mcp_put_string(const char* text) {
  putchar('"');
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      putchar('\\');
      putchar(c);
    } else if (c < 0x20) {
      printf("\\u%04x", c);
    } else {
      putchar(c);
    }
  }
  putchar('"');
}

static inline void mcp_begin(const mcp_request* request) {
  printf("{\"jsonrpc\":\"2.0\",\"id\":%.*s,", (int)request->id.size, request->id.at);
}

static inline void mcp_end(void) {
  fputs("}\n", stdout);
  fflush(stdout);
}

// `json`: a whole CallToolResult, for what the functions below don't make (pictures, links,
// structuredContent).
static inline void mcp_result(const mcp_request* request, const char* json) {
  mcp_begin(request);
  printf("\"result\":%s", json);
  mcp_end();
}

static inline void mcp_put_text_result(const mcp_request* request, const char* text, bool is_error) {
  mcp_begin(request);
  fputs("\"result\":{\"content\":[{\"type\":\"text\",\"text\":", stdout);
  mcp_put_string(text);
  fputs(is_error ? "}],\"isError\":true}" : "}]}", stdout);
  mcp_end();
}

static inline void mcp_text(const mcp_request* request, const char* text) {
  mcp_put_text_result(request, text, false);
}

// The tool worked and says no: the model reads why and can try again.
static inline void mcp_error(const mcp_request* request, const char* text) {
  mcp_put_text_result(request, text, true);
}

__attribute__((format(printf, 2, 3))) static inline void mcp_textf(const mcp_request* request,
                                                                   const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char* text = NULL;
  if (vasprintf(&text, format, arguments) < 0) abort();
  va_end(arguments);
  mcp_text(request, text);
}

// ---- the conversation

typedef struct {
  const char* name;          // 1-64 of a-z 0-9 _ -
  const char* description;   // for the model
  const char* input_schema;  // JSON Schema, "type":"object" at its top
  void (*run)(const mcp_request* request);
} mcp_tool;

// The next request; false at end of file.
static inline bool mcp_read(mcp_request* request) {
  char* line = NULL;
  size_t capacity = 0;
  ssize_t size = getline(&line, &capacity, stdin);
  if (size < 0) return false;
  mcp_json message = {line, (size_t)size};
  mcp_json params = mcp_get(message, "params");
  request->method = mcp_string(mcp_get(message, "method"));
  request->id = mcp_get(message, "id");
  request->name = mcp_get(params, "name");
  request->arguments = mcp_get(params, "arguments");
  return true;
}

static inline void mcp_answer_discover(const mcp_request* request) {
  mcp_result(request, "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}");
}

static inline void mcp_answer_list(const mcp_request* request, const mcp_tool* tools, size_t count) {
  mcp_begin(request);
  fputs("\"result\":{\"tools\":[", stdout);
  for (size_t i = 0; i < count; i++) {
    fputs(i == 0 ? "{\"name\":" : ",{\"name\":", stdout);
    mcp_put_string(tools[i].name);
    fputs(",\"description\":", stdout);
    mcp_put_string(tools[i].description);
    printf(",\"inputSchema\":%s}", tools[i].input_schema);
  }
  fputs("]}", stdout);
  mcp_end();
}

static inline void mcp_answer_call(const mcp_request* request, const mcp_tool* tools, size_t count) {
  char* name = mcp_string(request->name);
  for (size_t i = 0; i < count; i++) {
    if (name != NULL && strcmp(tools[i].name, name) == 0) return tools[i].run(request);
  }
  mcp_error(request, "there is no such tool");
}

// Answers until end of file. What it returns is main's exit code.
static inline int mcp_serve(const mcp_tool* tools, size_t count) {
  mcp_request request;
  while (mcp_read(&request)) {
    if (request.method == NULL || request.id.at == NULL) continue;
    if (strcmp(request.method, "server/discover") == 0) {
      mcp_answer_discover(&request);
    } else if (strcmp(request.method, "tools/list") == 0) {
      mcp_answer_list(&request, tools, count);
    } else if (strcmp(request.method, "tools/call") == 0) {
      mcp_answer_call(&request, tools, count);
    }
  }
  return 0;
}
