// Guests that stand still between request and answer, for the tests of cancelling and of many guests at once.
// Each says "holding" on stderr once it has read its request.
#include <time.h>
#include <unistd.h>

#include "mcp.h"

static void say_holding(void) {
  fputs("holding\n", stderr);
}

// {"ms":N} holds for N milliseconds, then answers; without it, for ever.
static void hold(const mcp_request* request) {
  say_holding();
  double ms = mcp_number(mcp_get(request->arguments, "ms"), 1e9);
  struct timespec wait = {(time_t)(ms / 1000), (long)(ms - 1000.0 * (long)(ms / 1000)) * 1000000};
  nanosleep(&wait, NULL);
  mcp_textf(request, "held for %.0f ms", ms);
}

static void hold_stdin(const mcp_request* request) {
  say_holding();
  char byte;
  ssize_t got = read(0, &byte, 1);  // end of file comes only after the answer: this waits
  mcp_textf(request, "read %zd bytes", got);
}

static void spin(const mcp_request* request) {
  (void)request;
  say_holding();
  for (volatile unsigned turns = 0;; turns++) {
  }
}

static void spin_host(const mcp_request* request) {
  (void)request;
  say_holding();
  for (;;) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
  }
}

// {"mib":N} more, every page of it written; held for {"ms":M}, or not at all.
static void hold_memory(const mcp_request* request) {
  size_t mib = (size_t)mcp_number(mcp_get(request->arguments, "mib"), 1);
  size_t before = __builtin_wasm_memory_grow(0, mib * 16);
  if (before == (size_t)-1) {
    mcp_error(request, "no memory");
    return;
  }
  for (size_t at = 0; at < mib << 20; at += 4096) ((volatile char*)(before * 65536))[at] = 1;
  double ms = mcp_number(mcp_get(request->arguments, "ms"), 0);
  say_holding();
  struct timespec wait = {(time_t)(ms / 1000), (long)(ms - 1000.0 * (long)(ms / 1000)) * 1000000};
  nanosleep(&wait, NULL);
  mcp_textf(request, "held %zu MiB", mib);
}

// Traps where it gets no memory.
static void need_memory(const mcp_request* request) {
  size_t mib = (size_t)mcp_number(mcp_get(request->arguments, "mib"), 1);
  if (__builtin_wasm_memory_grow(0, mib * 16) == (size_t)-1) __builtin_trap();
  mcp_text(request, "got it");
}

static void answer(const mcp_request* request) {
  mcp_text(request, "here");
}

#define ANYTHING "{\"type\":\"object\"}"

int main(void) {
  static const mcp_tool tools[] = {
      {"hold", "Sleeps for `ms` milliseconds, or for ever, and then answers.",
       "{\"type\":\"object\",\"properties\":{\"ms\":{\"type\":\"number\"}}}", hold},
      {"hold_stdin", "Reads stdin again before it answers.", ANYTHING, hold_stdin},
      {"spin", "Computes for ever.", ANYTHING, spin},
      {"spin_host", "Asks for the time for ever.", ANYTHING, spin_host},
      {"hold_memory", "Takes `mib` MiB of memory and holds them for `ms` milliseconds.", ANYTHING, hold_memory},
      {"need_memory", "Takes `mib` MiB of memory, or traps.", ANYTHING, need_memory},
      {"answer", "Answers at once.", ANYTHING, answer},
  };
  return mcp_serve(tools, sizeof tools / sizeof *tools);
}
