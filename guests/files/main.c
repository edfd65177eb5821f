// Looks at what a call is given: folders, files, the program's name and arguments, the request as it came.
#include <dirent.h>
#include <errno.h>

#include "mcp.h"

static char* program;

static int by_name(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

static void fail_with_errno(const mcp_request* request, const char* path) {
  char text[1200];
  snprintf(text, sizeof text, "%.1000s: %s", path, strerror(errno));
  mcp_error(request, text);
}

static char* path_of(const mcp_request* request) {
  char* path = mcp_string(mcp_get(request->arguments, "path"));
  if (path == NULL) mcp_error(request, "path must be a string");
  return path;
}

static void list(const mcp_request* request) {
  char* path = path_of(request);
  if (path == NULL) return;
  DIR* folder = opendir(path);
  if (folder == NULL) return fail_with_errno(request, path);
  char* names[1000];
  size_t count = 0;
  for (struct dirent* entry; count < 1000 && (entry = readdir(folder)) != NULL;) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      names[count++] = strdup(entry->d_name);
  }
  qsort(names, count, sizeof *names, by_name);
  char* text = calloc(1, count * 257 + 1);
  for (size_t i = 0; i < count; i++) strcat(strcat(text, names[i]), "\n");
  mcp_text(request, text);
}

static void read_text(const mcp_request* request) {
  char* path = path_of(request);
  if (path == NULL) return;
  FILE* file = fopen(path, "r");
  if (file == NULL) return fail_with_errno(request, path);
  char* text = calloc(1, 65536);
  fread(text, 1, 65535, file);
  if (ferror(file)) return fail_with_errno(request, path);
  mcp_text(request, text);
}

static void write_text(const mcp_request* request) {
  char* path = path_of(request);
  char* text = mcp_string(mcp_get(request->arguments, "text"));
  if (path == NULL) return;
  if (text == NULL) return mcp_error(request, "text must be a string");
  FILE* file = fopen(path, "w");
  if (file == NULL) return fail_with_errno(request, path);
  fputs(text, file);
  if (fclose(file) != 0) return fail_with_errno(request, path);
  mcp_textf(request, "%zu bytes", strlen(text));
}

static void echo(const mcp_request* request) {
  mcp_begin(request);
  printf("\"result\":{\"content\":[],\"structuredContent\":%.*s}", (int)request->arguments.size,
         request->arguments.at);
  mcp_end();
}

static void argv0(const mcp_request* request) {
  mcp_text(request, program);
}

#define PATH "\"path\":{\"type\":\"string\"}"

int main(int count, char** arguments) {
  program = count == 1 ? arguments[0] : "not exactly one argument";
  static const mcp_tool tools[] = {
      {"list", "The names in a folder, a line each.", "{\"type\":\"object\",\"properties\":{" PATH "}}",
       list},
      {"read", "The text of a file.", "{\"type\":\"object\",\"properties\":{" PATH "}}", read_text},
      {"write", "Writes a file.",
       "{\"type\":\"object\",\"properties\":{" PATH
       ",\"text\":{\"type\":\"string\"}},\"required\":[\"path\",\"text\"]}",
       write_text},
      {"echo", "The arguments, byte for byte, as structuredContent.", "{\"type\":\"object\"}", echo},
      {"argv0", "The program's name, its only argument.", "{\"type\":\"object\"}", argv0},
  };
  return mcp_serve(tools, sizeof tools / sizeof *tools);
}
