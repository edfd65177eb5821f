// The sample package: a greeting from a template in /package, and a note kept in the session's Volume.
#include "mcp.h"

static char* read_file(const char* path) {
  static char text[4096];
  FILE* file = fopen(path, "r");
  if (file == NULL) return NULL;
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  text[strcspn(text, "\n")] = '\0';
  return text;
}

static void greet(const mcp_request* request) {
  char* name = mcp_string(mcp_get(request->arguments, "name"));
  if (name == NULL || *name == '\0') return mcp_error(request, "name must be a string that isn't empty");
  char* template = read_file("/package/greeting.txt");
  char* hole = template != NULL ? strstr(template, "{name}") : NULL;
  if (hole == NULL) return mcp_error(request, "assets/greeting.txt is missing, or has no {name} in it");
  *hole = '\0';
  mcp_textf(request, "%s%s%s", template, name, hole + strlen("{name}"));
}

static void note(const mcp_request* request) {
  char* text = mcp_string(mcp_get(request->arguments, "text"));
  if (text == NULL) return mcp_error(request, "text must be a string");
  FILE* file = fopen("/volume/tmp/notes.txt", "a");
  if (file == NULL) return mcp_error(request, "can't open /volume/tmp/notes.txt");
  fprintf(file, "%s\n", text);
  long size = ftell(file);
  if (fclose(file) != 0) return mcp_error(request, "can't write /volume/tmp/notes.txt");
  fprintf(stderr, "noted: %s\n", text);
  mcp_textf(request, "noted; notes.txt has %ld bytes now", size);
}

int main(void) {
  static const mcp_tool tools[] = {
      {"greet", "Greets someone by name.",
       "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"description\":\"Who to "
       "greet.\"}},"
       "\"required\":[\"name\"]}",
       greet},
      {"note", "Appends a line to notes.txt in the session's Volume.",
       "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}", note},
  };
  return mcp_serve(tools, sizeof tools / sizeof *tools);
}
