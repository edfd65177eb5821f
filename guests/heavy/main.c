// Guests that ask for the most that one call of a host function, or one instruction, can be: for the tests of cancelling, and of others
// that run meanwhile. Each says "holding" on stderr right before it, and answers how long it took.
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

#include "mcp.h"

enum { kMiB = 1 << 20 };
static const char kFile[] = "/volume/tmp/big";

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

// The pause lets it be heard: what is said in a turn arrives when the turn is over.
static void say_holding(void) {
  fputs("holding\n", stderr);
  usleep(1000);
}

static int failed(const mcp_request* request, const char* what) {
  mcp_error(request, what);
  return 1;
}

// {"mib":N}, 1 GiB without it, which is all that a call may write.
static int make_file(const mcp_request* request) {
  static char block[kMiB];
  for (size_t i = 0; i < sizeof block; i++) block[i] = (char)i;
  int file = open(kFile, O_RDWR | O_CREAT | O_TRUNC, 0600);
  int mib = (int)mcp_number(mcp_get(request->arguments, "mib"), 1024);
  for (int i = 0; i < mib; i++) {
    for (size_t done = 0; done < sizeof block;) {
      ssize_t n = write(file, block + done, sizeof block - done);
      if (n <= 0) return -1;
      done += (size_t)n;
    }
  }
  return file;
}

static void sync_file(const mcp_request* request) {
  int file = make_file(request);
  say_holding();
  double began = now_ms();
  if (file < 0 || fsync(file) != 0) return (void)failed(request, "fsync");
  mcp_textf(request, "took %.1f ms", now_ms() - began);
}

static void unlink_file(const mcp_request* request) {
  int file = make_file(request);
  if (file < 0 || close(file) != 0) return (void)failed(request, "write");
  say_holding();
  double began = now_ms();
  if (unlink(kFile) != 0) return (void)failed(request, "unlink");
  mcp_textf(request, "took %.1f ms", now_ms() - began);
}

static void close_unlinked(const mcp_request* request) {
  int file = make_file(request);
  if (file < 0 || unlink(kFile) != 0) return (void)failed(request, "unlink");
  say_holding();
  double began = now_ms();
  close(file);
  mcp_textf(request, "took %.1f ms", now_ms() - began);
}

// Ends with it open: what the host does then is nobody else's wait.
static void leave_unlinked(const mcp_request* request) {
  int file = make_file(request);
  if (file < 0 || unlink(kFile) != 0) return (void)failed(request, "unlink");
  say_holding();
  mcp_textf(request, "left");
}

// Ends with {"files":N} files of 8 MiB open, 60 without it, none of which has a name any more.
static void leave_many(const mcp_request* request) {
  static char block[kMiB];
  int files = (int)mcp_number(mcp_get(request->arguments, "files"), 60);
  for (int i = 0; i < files; i++) {
    int file = open(kFile, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int mib = 0; mib < 8; mib++) {
      if (file < 0 || write(file, block, sizeof block) < 0) return (void)failed(request, "write");
    }
    if (unlink(kFile) != 0) return (void)failed(request, "unlink");
  }
  say_holding();
  mcp_textf(request, "left %d", files);
}

// Touches the big file of another guest, again and again for {"ms":N}, as one that has nothing to do with its size would.
static void poke(const mcp_request* request) {
  double until = now_ms() + mcp_number(mcp_get(request->arguments, "ms"), 1000);
  int pokes = 0;
  say_holding();
  for (; now_ms() < until; pokes++) {
    int file = open(kFile, O_RDWR);
    if (file >= 0) (void)!pwrite(file, "x", 1, 0);
    close(file);
    usleep(1000);
  }
  mcp_textf(request, "%d pokes", pokes);
}

static void rename_over(const mcp_request* request) {
  int file = make_file(request);
  if (file < 0 || close(file) != 0) return (void)failed(request, "write");
  close(open("/volume/tmp/small", O_WRONLY | O_CREAT, 0600));
  say_holding();
  double began = now_ms();
  if (rename("/volume/tmp/small", kFile) != 0) return (void)failed(request, "rename");
  mcp_textf(request, "took %.1f ms", now_ms() - began);
}

static void truncate_file(const mcp_request* request) {
  int file = make_file(request);
  say_holding();
  double began = now_ms();
  if (file < 0 || ftruncate(file, 1) != 0) return (void)failed(request, "ftruncate");
  mcp_textf(request, "took %.1f ms", now_ms() - began);
}

static void open_to_empty(const mcp_request* request) {
  int file = make_file(request);
  if (file < 0 || close(file) != 0) return (void)failed(request, "write");
  say_holding();
  double began = now_ms();
  if (open(kFile, O_WRONLY | O_TRUNC) < 0) return (void)failed(request, "open");
  mcp_textf(request, "took %.1f ms", now_ms() - began);
}

// One instruction that writes nearly all the memory that there may be.
static void fill(const mcp_request* request) {
  size_t mib = (size_t)mcp_number(mcp_get(request->arguments, "mib"), 480);
  char* all = (char*)(__builtin_wasm_memory_grow(0, mib * 16) * 65536);
  say_holding();
  double began = now_ms();
  __builtin_memset(all, 1, mib * kMiB);
  double took = now_ms() - began;
  mcp_textf(request, "took %.1f ms%s", took, all[mib * kMiB - 1] == 1 ? "" : " and did nothing");
}

static void random_bytes(const mcp_request* request) {
  size_t mib = (size_t)mcp_number(mcp_get(request->arguments, "mib"), 256);
  uint8_t* all = (uint8_t*)(__builtin_wasm_memory_grow(0, mib * 16) * 65536);
  say_holding();
  double began = now_ms();
  if (__wasi_random_get(all, mib * kMiB) != 0) return (void)failed(request, "random_get");
  mcp_textf(request, "took %.1f ms", now_ms() - began);
}

// All entries of /volume/tmp in one call, which is done again.
static void list(const mcp_request* request) {
  static uint8_t entries[16 * kMiB];
  int times = (int)mcp_number(mcp_get(request->arguments, "times"), 1e9);
  say_holding();
  __wasi_size_t used = 0;
  double began = now_ms();
  for (int i = 0; i < times; i++) {
    if (__wasi_fd_readdir(3, entries, sizeof entries, 0, &used) != 0) return (void)failed(request, "fd_readdir");
  }
  int count = 0;
  for (size_t at = 0; at < used;) {
    __wasi_dirent_t head;
    memcpy(&head, entries + at, sizeof head);
    at += sizeof head + head.d_namlen;
    count++;
  }
  mcp_textf(request, "took %.1f ms for %d entries", (now_ms() - began) / times, count);
}

static void loop(const mcp_request* request) {
  (void)request;
  say_holding();
  for (volatile unsigned turns = 0;; turns++) {
  }
}

static void answer(const mcp_request* request) {
  mcp_text(request, "here");
}

#define ANYTHING "{\"type\":\"object\"}"

int main(void) {
  static const mcp_tool tools[] = {
      {"sync_file", "Syncs a file that it has just written.", ANYTHING, sync_file},
      {"unlink_file", "Removes such a file.", ANYTHING, unlink_file},
      {"close_unlinked", "Removes it while it is open, and closes it then.", ANYTHING, close_unlinked},
      {"leave_unlinked", "Removes it and ends with it open.", ANYTHING, leave_unlinked},
      {"leave_many", "Removes many files and ends with all open.", ANYTHING, leave_many},
      {"poke", "Writes to the big file of another.", ANYTHING, poke},
      {"rename_over", "Renames a small file over it.", ANYTHING, rename_over},
      {"truncate_file", "Cuts it to one byte.", ANYTHING, truncate_file},
      {"open_to_empty", "Opens it to empty it.", ANYTHING, open_to_empty},
      {"fill", "Fills 480 MiB of memory with one instruction.", ANYTHING, fill},
      {"random_bytes", "Asks for 256 MiB of randomness.", ANYTHING, random_bytes},
      {"list", "Lists /volume/tmp, again and again.", ANYTHING, list},
      {"loop", "Computes for ever.", ANYTHING, loop},
      {"answer", "Answers at once.", ANYTHING, answer},
  };
  return mcp_serve(tools, sizeof tools / sizeof *tools);
}
