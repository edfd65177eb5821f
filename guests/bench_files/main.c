// What files cost a guest: each tool measures by itself and tells the figure of each of its rounds. Compiled natively, it answers the
// same requests about the folder that its argument names: that is what bench/bench.py compares with.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mcp.h"

static int folder;

#define PIECE 65536
#define PATH "a/b/file"  // two slashes

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// Says why and ends: a figure of what didn't happen would be worse than none.
static void check(bool done, const char* what) {
  if (done) return;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(3);
}

static long long given(const mcp_request* request, const char* name, double otherwise) {
  return (long long)mcp_number(mcp_get(request->arguments, name), otherwise);
}

// {"mib":N}: MiB a second of a new file's writing, then of its reading.
static void write_read(const mcp_request* request) {
  static char piece[PIECE];
  memset(piece, 'x', sizeof piece);
  long long mib = given(request, "mib", 1024);
  long long pieces = mib * 1048576 / PIECE;
  unlinkat(folder, "big", 0);
  int file = openat(folder, "big", O_RDWR | O_CREAT, 0600);
  check(file >= 0, "open");
  double began = now();
  for (long long i = 0; i < pieces; i++) check(write(file, piece, PIECE) == PIECE, "write");
  double written = now();
  check(lseek(file, 0, SEEK_SET) == 0, "seek");
  double rewound = now();
  for (long long i = 0; i < pieces; i++) check(read(file, piece, PIECE) == PIECE, "read");
  double end = now();
  check(piece[0] == 'x' && piece[PIECE - 1] == 'x', "what was read");
  close(file);
  check(unlinkat(folder, "big", 0) == 0, "unlink");
  mcp_textf(request, "%.1f %.1f", (double)mib / (written - began), (double)mib / (end - rewound));
}

static void open_and_close(void) {
  int file = openat(folder, PATH, O_RDONLY);
  check(file >= 0 && close(file) == 0, "open and close");
}

static void look(void) {
  struct stat found;
  check(fstatat(folder, PATH, &found, 0) == 0 && found.st_size == 5, "stat");
}

// {"rounds":R,"turns":N}: for each round the nanoseconds of a turn.
static void measure(const mcp_request* request, void (*turn)(void)) {
  mkdirat(folder, "a", 0700);
  mkdirat(folder, "a/b", 0700);
  int file = openat(folder, PATH, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  check(file >= 0 && write(file, "hello", 5) == 5 && close(file) == 0, "making " PATH);
  long long rounds = given(request, "rounds", 5), turns = given(request, "turns", 20000);
  char* text = calloc((size_t)rounds, 32);
  char* end = text;
  for (long long round = 0; round < rounds; round++) {
    double began = now();
    for (long long i = 0; i < turns; i++) turn();
    end += sprintf(end, round == 0 ? "%.1f" : " %.1f", (now() - began) * 1e9 / (double)turns);
  }
  unlinkat(folder, PATH, 0);
  unlinkat(folder, "a/b", AT_REMOVEDIR);
  unlinkat(folder, "a", AT_REMOVEDIR);
  mcp_text(request, text);
}

static void open_close(const mcp_request* request) {
  measure(request, open_and_close);
}

static void stat_path(const mcp_request* request) {
  measure(request, look);
}

#define TURNS \
  "{\"type\":\"object\",\"properties\":{\"rounds\":{\"type\":\"number\"},\"turns\":{\"type\":\"number\"}}}"

int main(int count, char** arguments) {
  folder = open(count > 1 ? arguments[1] : "/volume/tmp", O_RDONLY | O_DIRECTORY);
  static const mcp_tool tools[] = {
      {"write_read", "Writes a file of `mib` MiB in pieces of 64 KiB and reads it: the MiB/s of both.",
       "{\"type\":\"object\",\"properties\":{\"mib\":{\"type\":\"number\"}}}", write_read},
      {"open_close", "Opens and closes " PATH ": nanoseconds, for each round.", TURNS, open_close},
      {"stat", "Looks at " PATH ": nanoseconds, for each round.", TURNS, stat_path},
  };
  return mcp_serve(tools, sizeof tools / sizeof *tools);
}
