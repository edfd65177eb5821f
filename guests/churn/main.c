// Guests that change /volume/tmp and /volume/data in every way that there is, for the tests of what the host counts of it (F5).
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp.h"

static uint64_t state;

static uint32_t below(uint32_t most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % most;
}

// One of 24 names: few, so that guests meet.
static const char* any_name(void) {
  static char names[2][64];
  static int which;
  char* name = names[which ^= 1];
  snprintf(name, sizeof names[0], "/volume/%s/%s%c", below(2) ? "tmp" : "data", below(3) ? "" : "dir/", (char)('a' + below(6)));
  return name;
}

static int open_any(void) {
  static const int flags[] = {O_RDWR, O_RDWR | O_CREAT, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_TRUNC, O_WRONLY | O_CREAT | O_APPEND,
                              O_RDWR | O_CREAT | O_EXCL, O_RDONLY};
  return open(any_name(), flags[below(sizeof flags / sizeof *flags)], 0600);
}

static void act(int* files, int count) {
  static char block[100000];
  int* file = &files[below((uint32_t)count)];
  switch (below(12)) {
    case 0:
    case 1:
    case 2:
      if (*file >= 0) close(*file);
      *file = open_any();
      break;
    case 3:
      (void)!write(*file, block, below(sizeof block));
      break;
    case 4:
      (void)!pwrite(*file, block, below(1000), below(300000));
      break;
    case 5:
      (void)ftruncate(*file, below(2) ? below(5000) : below(600000));
      break;
    case 6:
      unlink(any_name());
      break;
    case 7:
      rename(any_name(), any_name());
      break;
    case 8:
      link(any_name(), any_name());
      break;
    case 9:
      symlink("a", any_name());
      break;
    case 10:
      if (below(2)) mkdir(any_name(), 0700);
      else rmdir(any_name());
      break;
    case 11:
      mkdir(below(2) ? "/volume/tmp/dir" : "/volume/data/dir", 0700);
      break;
  }
}

// {"seed":N} for ever, or {"seed":N,"turns":N}; what is open stays so until its end.
static void churn(const mcp_request* request) {
  int files[6] = {-1, -1, -1, -1, -1, -1};
  state = (uint64_t)mcp_number(mcp_get(request->arguments, "seed"), 1);
  double turns = mcp_number(mcp_get(request->arguments, "turns"), 1e18);
  fputs("holding\n", stderr);
  for (double turn = 0; turn < turns; turn++) act(files, 6);
  mcp_text(request, "done");
}

// {"mib":N}: a sparse file of that size, of a name of its own ({"name":"…"}).
static void grow(const mcp_request* request) {
  char path[256];
  snprintf(path, sizeof path, "/volume/tmp/%s", mcp_string(mcp_get(request->arguments, "name")));
  int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0) return mcp_error(request, strerror(errno));
  if (ftruncate(file, (off_t)mcp_number(mcp_get(request->arguments, "mib"), 1) << 20) != 0) return mcp_error(request, strerror(errno));
  mcp_text(request, "grown");
}

// In a full Volume: what grows fails, all else goes on. {"name":"…"} is a file of over 100 bytes. Answers what didn't go as it should.
static void full(const mcp_request* request) {
  char wrong[1024] = "";
  char path[256];
  struct stat now;
  char bytes[100] = "x";
#define EXPECT(what) \
  if (!(what)) snprintf(wrong + strlen(wrong), sizeof wrong - strlen(wrong), "%s (%s); ", #what, strerror(errno))
  snprintf(path, sizeof path, "/volume/tmp/%s", mcp_string(mcp_get(request->arguments, "name")));
  int file = open(path, O_RDWR);
  EXPECT(file >= 0 && fstat(file, &now) == 0);
  EXPECT(pwrite(file, bytes, sizeof bytes, now.st_size - 50) == 50);
  EXPECT(pwrite(file, bytes, 1, now.st_size) == -1 && errno == ENOSPC);
  EXPECT(pwrite(file, bytes, 1, now.st_size + 1000) == -1 && errno == ENOSPC);
  EXPECT(ftruncate(file, now.st_size + 1) == -1 && errno == ENOSPC);
  EXPECT(pwrite(file, bytes, sizeof bytes, 0) == sizeof bytes);
  EXPECT(pread(file, bytes, sizeof bytes, 0) == sizeof bytes && bytes[0] == 'x');
  EXPECT(rename(path, "/volume/tmp/renamed") == 0);
  EXPECT(rename("/volume/tmp/renamed", path) == 0);
  EXPECT(ftruncate(file, now.st_size - 10) == 0);
  EXPECT(pwrite(file, bytes, 20, now.st_size - 10) == 10);
  EXPECT(write(file, bytes, 0) == 0);
  int other = open("/volume/tmp/other", O_RDWR | O_CREAT, 0600);
  EXPECT(other >= 0 && write(other, bytes, 1) == -1 && errno == ENOSPC);
  EXPECT(unlink(path) == 0);
  EXPECT(write(other, bytes, 1) == -1 && errno == ENOSPC);  // it is still open
  EXPECT(close(file) == 0);
  EXPECT(write(other, bytes, 1) == 1);
  if (wrong[0] != '\0') return mcp_error(request, wrong);
  mcp_text(request, "as it should be");
}

// Makes empty files until one can't be made, removes one and makes one. Answers how many there were.
static void many(const mcp_request* request) {
  char path[64];
  int made = 0;
  for (int file;; made++, close(file)) {
    snprintf(path, sizeof path, "/volume/tmp/%d", made);
    file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0) break;
  }
  if (errno != ENOSPC || mkdir(path, 0700) == 0 || errno != ENOSPC) return mcp_error(request, strerror(errno));
  if (mkdir("/volume/tmp/0", 0700) == 0 || errno != EEXIST) return mcp_error(request, strerror(errno));
  if (unlink("/volume/tmp/0") != 0 || mkdir("/volume/tmp/0", 0700) != 0) return mcp_error(request, strerror(errno));
  mcp_textf(request, "%d", made);
}

#define ANYTHING "{\"type\":\"object\"}"

int main(void) {
  static const mcp_tool tools[] = {
      {"churn", "Changes names and files at random.", ANYTHING, churn},
      {"grow", "Makes a sparse file.", ANYTHING, grow},
      {"full", "Looks what still works in a full Volume.", ANYTHING, full},
      {"many", "Makes as many names as it may.", ANYTHING, many},
  };
  return mcp_serve(tools, sizeof tools / sizeof *tools);
}
