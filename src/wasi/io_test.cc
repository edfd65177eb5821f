#include "wasi/guest_test.h"

namespace subako::wasi {
namespace {

class Io : public Guest {
 protected:
  Io() { disk.file("tmp/file", "hello"); }
  std::string seek(uint64_t fd, int64_t delta, uint64_t whence) {
    const std::string answer = call("fd_seek", {fd, static_cast<uint64_t>(delta), whence, 104});
    return answer == "SUCCESS" ? std::to_string(get<uint64_t>(104)) : answer;
  }
  std::string pwrite(uint64_t fd, std::string_view bytes, uint64_t offset) {
    std::memcpy(&memory.at(20000), bytes.data(), bytes.size());
    iovec(200, 20000, static_cast<uint32_t>(bytes.size()));
    return call("fd_pwrite", {fd, 200, 1, offset, 104});
  }
  std::string pread(uint64_t fd, uint32_t most, uint64_t offset) {
    iovec(200, 20000, most);
    const std::string answer = call("fd_pread", {fd, 200, 1, offset, 104});
    return answer == "SUCCESS" ? text(20000, get<uint32_t>(104)) : answer;
  }
};

TEST_F(Io, reads_and_writes_go_on_where_the_last_ended) {  // spec: F2
  const uint64_t fd = opened("file", kReadWrite);
  EXPECT_EQ(read(fd, 2), "he");
  EXPECT_EQ(write(fd, "YY"), "SUCCESS");
  EXPECT_EQ(read(fd), "o");
  EXPECT_EQ(read(fd), "");
  EXPECT_EQ(disk.text("tmp/file"), "heYYo");
  EXPECT_EQ(call("fd_tell", {fd, 104}), "SUCCESS");
  EXPECT_EQ(get<uint64_t>(104), 5U);
}

TEST_F(Io, a_file_is_written_whole_in_one_call_and_read_back) {  // spec: F2
  memory.assign(4 << 16, std::byte{0});
  for (size_t i = 0; i < 65536; ++i) memory[65536 + i] = static_cast<std::byte>(i * 7 + i / 256);
  const uint64_t fd = opened("big", kReadWrite, kCreat | kExcl);
  iovec(200, 65536, 65536);
  EXPECT_EQ(call("fd_write", {fd, 200, 1, 104}), "SUCCESS");
  EXPECT_EQ(get<uint32_t>(104), 65536U);
  EXPECT_EQ(seek(fd, 0, 0), "0");
  iovec(200, 2 * 65536, 65536);
  EXPECT_EQ(call("fd_read", {fd, 200, 1, 104}), "SUCCESS");
  EXPECT_EQ(get<uint32_t>(104), 65536U);
  EXPECT_EQ(text(65536, 65536), text(2 * 65536, 65536));
}

TEST_F(Io, what_is_open_outlives_its_name) {  // spec: F2
  const uint64_t fd = opened("file", kReadWrite);
  EXPECT_EQ(on_path("path_unlink_file", kTmp, "file"), "SUCCESS");
  EXPECT_EQ(read(fd), "hello");
  EXPECT_EQ(write(fd, "!"), "SUCCESS");
  EXPECT_EQ(call("fd_filestat_get", {fd, 104}), "SUCCESS");
  EXPECT_EQ(get<Filestat>(104).size, 6U);
  EXPECT_EQ(get<Filestat>(104).links, 0U);
  disk.directory("tmp/dir");
  const uint64_t directory = opened("dir", 0, kDirectory);
  EXPECT_EQ(on_path("path_remove_directory", kTmp, "dir"), "SUCCESS");
  EXPECT_EQ(open("new", kReadWrite, kCreat, directory), "NOENT");
  EXPECT_EQ(on_path("path_create_directory", kTmp, "dir"), "SUCCESS");
  EXPECT_EQ(call("fd_close", {directory}), "SUCCESS");
}

TEST_F(Io, opening_empties_a_file_only_where_asked) {  // spec: F2
  EXPECT_EQ(open("file", kReadWrite, kCreat), "SUCCESS");
  EXPECT_EQ(disk.text("tmp/file"), "hello");
  EXPECT_EQ(open("file", kRead, kTrunc), "SUCCESS");
  EXPECT_EQ(disk.text("tmp/file"), "");
}

TEST_F(Io, seeking_has_the_bounds_of_linux) {  // spec: F2
  const uint64_t fd = opened("file", kReadWrite);
  EXPECT_EQ(seek(fd, 3, 0), "3");
  EXPECT_EQ(seek(fd, -1, 1), "2");
  EXPECT_EQ(seek(fd, -1, 2), "4");
  EXPECT_EQ(seek(fd, 100, 2), "105");
  EXPECT_EQ(read(fd), "");
  EXPECT_EQ(seek(fd, -1, 0), "INVAL");
  EXPECT_EQ(seek(fd, INT64_MAX, 1), "INVAL");
  EXPECT_EQ(seek(fd, INT64_MIN, 1), "INVAL");
  EXPECT_EQ(seek(fd, 0, 3), "INVAL");
  EXPECT_EQ(seek(fd, 0, 0x100), "INVAL");
  EXPECT_EQ(seek(fd, 0, 1), "105");
}

TEST_F(Io, positioned_io_leaves_the_offset_alone) {
  const uint64_t fd = opened("file", kReadWrite);
  EXPECT_EQ(pwrite(fd, "LL", 2), "SUCCESS");
  EXPECT_EQ(pread(fd, 3, 1), "eLL");
  EXPECT_EQ(read(fd), "heLLo");
  for (const uint64_t offset : {uint64_t{1} << 63U, ~uint64_t{0}}) {
    EXPECT_EQ(pread(fd, 1, offset), "INVAL");
    EXPECT_EQ(pwrite(fd, "x", offset), "INVAL");
  }
  EXPECT_EQ(pread(fd, 1, INT64_MAX), "INVAL");
}

TEST_F(Io, appending_writes_at_the_end_at_that_time) {  // spec: F2
  const uint64_t fd = opened("file", kReadWrite, 0, kTmp, kAppend);
  const uint64_t other = opened("file", kReadWrite, 0, kTmp, kAppend);
  EXPECT_EQ(write(fd, "1"), "SUCCESS");
  EXPECT_EQ(write(other, "2"), "SUCCESS");
  EXPECT_EQ(write(fd, "3"), "SUCCESS");
  EXPECT_EQ(seek(fd, 0, 1), "8");
  EXPECT_EQ(pwrite(fd, "4", 0), "SUCCESS");
  EXPECT_EQ(disk.text("tmp/file"), "hello1234");
  EXPECT_EQ(seek(fd, 1, 0), "1");
  EXPECT_EQ(call("fd_fdstat_set_flags", {fd, 0}), "SUCCESS");
  EXPECT_EQ(seek(fd, 0, 1), "1");
  EXPECT_EQ(write(fd, "E"), "SUCCESS");
  EXPECT_EQ(disk.text("tmp/file"), "hEllo1234");
}

TEST_F(Io, buffers_are_filled_in_order_and_empty_ones_passed_over) {  // spec: F2
  const uint64_t fd = opened("file");
  iovec(200, 0xffffffffU, 0);
  iovec(208, 20000, 2);
  iovec(216, 0, 0);
  iovec(224, 65533, 3);
  EXPECT_EQ(call("fd_read", {fd, 200, 4, 104}), "SUCCESS");
  EXPECT_EQ(get<uint32_t>(104), 5U);
  EXPECT_EQ(text(20000, 2) + text(65533, 3), "hello");
  iovec(200, 65530, 10);
  EXPECT_EQ(call("fd_read", {fd, 200, 1, 104}),
            "TRAP fd_read: the pointer 0xfffa and its 10 bytes lie outside memory");
}

TEST_F(Io, counts_of_buffers_have_a_bound_and_never_wrap) {  // spec: F2
  const uint64_t fd = opened("file", kReadWrite);
  EXPECT_EQ(call("fd_write", {fd, 200, 0, 104}), "SUCCESS");
  EXPECT_EQ(get<uint32_t>(104), 0U);
  EXPECT_EQ(call("fd_write", {fd, 0, 0x20000001, 104}),
            "TRAP fd_write: the pointer 0x0 and its 4294967304 bytes lie outside memory");
  EXPECT_EQ(call("fd_write", {fd, 8000, 1025, 104}), "INVAL");
  EXPECT_EQ(call("fd_read", {0, 8000, 1025, 104}), "INVAL");
  for (uint64_t i = 0; i < 1024; ++i) iovec(8000 + i * 8, 20000, 0);
  iovec(8000 + 1023 * 8, 20000, 3);
  EXPECT_EQ(call("fd_read", {fd, 8000, 1024, 104}), "SUCCESS");
  EXPECT_EQ(get<uint32_t>(104), 3U);
}

TEST_F(Io, one_call_moves_at_most_a_mebibyte) {
  memory.assign(4 << 20, std::byte{'x'});
  const uint64_t fd = opened("big", kReadWrite, kCreat);
  iovec(200, 0, 3 << 20);
  for (const char* function : {"fd_write", "fd_pwrite", "fd_pread"}) {
    if (std::string_view(function) == "fd_write") {
      EXPECT_EQ(call(function, {fd, 200, 1, 104}), "SUCCESS");
    } else {
      EXPECT_EQ(call(function, {fd, 200, 1, 0, 104}), "SUCCESS");
    }
    EXPECT_EQ(get<uint32_t>(104), limits::kHostCallBytes) << function;
    iovec(200, 0, 3 << 20);
  }
  stdio.output_room = 8 << 20;
  EXPECT_EQ(call("fd_write", {1, 200, 1, 104}), "SUCCESS");
  EXPECT_EQ(stdio.output.size(), limits::kHostCallBytes);
}

TEST_F(Io, stdin_gives_what_is_there_or_waits_and_ends_when_closed) {  // spec: C5
  EXPECT_EQ(read(0), "WAIT");
  EXPECT_TRUE(host.wake().stdin);
  EXPECT_FALSE(host.wake().at);
  EXPECT_EQ(read(0, 0), "");
  stdio.input = "request\n";
  EXPECT_EQ(read(0, 3), "req");
  EXPECT_EQ(read(0), "uest\n");
  EXPECT_EQ(call("fd_fdstat_set_flags", {0, kNonblock}), "SUCCESS");
  EXPECT_EQ(read(0), "AGAIN");
  stdio.closed = true;
  stdio.input = "x";
  EXPECT_EQ(read(0), "x");
  EXPECT_EQ(read(0), "");
  EXPECT_EQ(read(1), "BADF");
  EXPECT_EQ(write(0, "x"), "BADF");
}

TEST_F(Io, a_refused_stdout_halts_the_run) {  // spec: L4
  EXPECT_EQ(write(2, "log"), "SUCCESS");
  EXPECT_EQ(stdio.errors, "log");
  stdio.output_room = 4;
  EXPECT_EQ(write(1, "four"), "SUCCESS");
  EXPECT_EQ(write(1, "!"), "HALT");
}

class Budget : public Io {
 protected:
  Budget() {
    small.emplace(World{.preopens = {{"/volume/tmp", true}}, .write_budget = 100}, clock, stdio, blocking);
  }
  std::string run(std::string_view name, const std::vector<uint64_t>& words) {
    return shown(abi::find(imports(), name)->call(&*small, abi::GuestMemory(memory), words));
  }
  // Writes `size` bytes and gives the count, or the error.
  std::string wrote(uint64_t fd, uint32_t size) {
    iovec(200, 20000, size);
    const std::string answer = run("fd_write", {fd, 200, 1, 104});
    return answer == "SUCCESS" ? std::to_string(get<uint32_t>(104)) : answer;
  }
  uint64_t make(std::string_view name, uint64_t fdflags = 0) {
    path(name);
    EXPECT_EQ(run("path_open", {3, 0, 1000, name.size(), kCreat, kReadWrite, 0, fdflags, 100}), "SUCCESS");
    return get<uint32_t>(100);
  }
  std::optional<Host> small;
};

TEST_F(Budget, ends_with_a_short_write_and_then_an_error) {  // spec: F4
  small->bind(0, disk.open("tmp"));
  const uint64_t fd = make("a");
  EXPECT_EQ(wrote(fd, 80), "80");
  EXPECT_EQ(run("fd_seek", {fd, 0, 0, 104}), "SUCCESS");
  EXPECT_EQ(wrote(fd, 80), "20");
  EXPECT_EQ(wrote(fd, 1), "DQUOT");
  EXPECT_EQ(wrote(fd, 0), "0");
  EXPECT_EQ(small->budget().written(), 100U);
  EXPECT_EQ(run("fd_filestat_set_size", {fd, 10}), "SUCCESS");
  EXPECT_EQ(run("fd_filestat_set_size", {fd, 11}), "DQUOT");
  EXPECT_EQ(disk.stat("tmp/a").st_size, 10);
}

TEST_F(Budget, counts_holes_and_sizes) {  // spec: F4
  small->bind(0, disk.open("tmp"));
  const uint64_t fd = make("a");
  EXPECT_EQ(run("fd_filestat_set_size", {fd, uint64_t{1} << 40U}), "DQUOT");
  EXPECT_EQ(run("fd_filestat_set_size", {fd, ~uint64_t{0}}), "INVAL");
  iovec(200, 20000, 10);
  EXPECT_EQ(run("fd_pwrite", {fd, 200, 1, 100, 104}), "DQUOT");
  EXPECT_EQ(run("fd_pwrite", {fd, 200, 1, 97, 104}), "SUCCESS");
  EXPECT_EQ(get<uint32_t>(104), 3U);
  EXPECT_EQ(small->budget().left(), 0U);
  EXPECT_EQ(disk.stat("tmp/a").st_size, 100);
}

TEST_F(Budget, counts_an_append_from_the_real_end) {  // spec: F4
  small->bind(0, disk.open("tmp"));
  disk.file("tmp/long", std::string(1000, 'x'));
  const uint64_t fd = make("long", kAppend);
  iovec(200, 20000, 90);
  EXPECT_EQ(run("fd_pwrite", {fd, 200, 1, 5000, 104}), "SUCCESS");
  EXPECT_EQ(get<uint32_t>(104), 90U);
  EXPECT_EQ(small->budget().written(), 90U);
  EXPECT_EQ(disk.stat("tmp/long").st_size, 1090);
}

TEST_F(Io, setting_a_size_needs_a_file_open_for_writing) {  // spec: F2
  const uint64_t fd = opened("file", kReadWrite);
  EXPECT_EQ(call("fd_filestat_set_size", {fd, 3}), "SUCCESS");
  EXPECT_EQ(disk.text("tmp/file"), "hel");
  EXPECT_EQ(call("fd_filestat_set_size", {fd, 1000}), "SUCCESS");
  EXPECT_EQ(disk.stat("tmp/file").st_size, 1000);
  EXPECT_EQ(call("fd_filestat_set_size", {opened("file", kRead), 1}), "INVAL");
  EXPECT_EQ(disk.stat("tmp/file").st_size, 1000);
}

}  // namespace
}  // namespace subako::wasi
