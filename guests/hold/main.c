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
      {"answer", "Answers at once.", ANYTHING, answer},
  };
  return mcp_serve(tools, sizeof tools / sizeof *tools);
}
