"""What Wasmtime 48 answers to single calls, and we: tests/wasi/oracle.py holds ours against it.

The guest has TREE/pre as its descriptor 3, TREE/ro as 4, read-only, and one page of memory. Each case begins anew. Where our
answer is another than Wasmtime's, `why` is the row of docs/abi.md, "Where it differs from Wasmtime", that says why.
"""

import dataclasses
import struct
import typing

import rows
from calls import Call
from trees import DIRECTORY, Link

TREE = {
    "pre": DIRECTORY,
    "pre/dir": DIRECTORY,
    "pre/file": b"hello",
    "pre/esc": Link("../out"),
    "pre/abs": Link("/etc"),
    "pre/in": Link("dir"),
    "pre/lf": Link("file"),
    "pre/loop": Link("loop"),
    "out": DIRECTORY,
    "out/secret": b"x",
    "ro": DIRECTORY,
    "ro/f": b"ro",
}
RW, RO = 3, 4
STDIN, STDOUT = 0, 1
RESULT = 104  # where results go


@dataclasses.dataclass
class Case:
    name: str
    call: Call
    memory: dict
    wasmtime: str
    ours: typing.Optional[str] = None  # the same where not given
    why: typing.Optional[str] = None

    def expected(self):
        return self.ours or self.wasmtime


FOLLOW = 1
CREAT, DIRECTORY_FLAG, EXCL, TRUNC = 1, 2, 4, 8
READ, WRITE = 2, 64
APPEND, NONBLOCK, SYNC = 1, 4, 16


def call(function, *words, **memory):
    """`memory`: at_200=b"..."."""
    return Call(function, list(words)), {int(name[3:]): what for name, what in memory.items()}


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def path_open(path, lookup=0, oflags=0, rights=READ, fdflags=0, fd=RW, result=RESULT):
    path = as_bytes(path)
    return call("path_open", fd, lookup, 1000, len(path), oflags, rights, 0, fdflags, result, at_1000=path)


def on_path(function, path, *more, fd=RW):
    return call(function, fd, 1000, len(path), *more, at_1000=as_bytes(path))


def stat(path, lookup=0):
    return call("path_filestat_get", RW, lookup, 1000, len(path), RESULT, at_1000=as_bytes(path))


def symlink(target, path, fd=RW):
    return call(
        "path_symlink", 1000, len(target), fd, 6000, len(path), at_1000=as_bytes(target), at_6000=as_bytes(path)
    )


def link(path, new_path, lookup=0, fd=RW, new_fd=RW):
    words = fd, lookup, 1000, len(path), new_fd, 6000, len(new_path)
    return call("path_link", *words, at_1000=as_bytes(path), at_6000=as_bytes(new_path))


def rename(path, new_path, fd=RW, new_fd=RW):
    words = fd, 1000, len(path), new_fd, 6000, len(new_path)
    return call("path_rename", *words, at_1000=as_bytes(path), at_6000=as_bytes(new_path))


def write(fd, buffer, length, **memory):
    return call("fd_write", fd, 0, 1, RESULT, at_0=struct.pack("<II", buffer, length), **memory)


def poll(tag=0, number=0, flags=0, at=400, count=1):
    subscription = struct.pack("<QQIIQQHHI", 0, tag, number, 0, 0, 0, flags, 0, 0)
    return call("poll_oneoff", at, 2000, count, RESULT, at_400=subscription)


def case(name, made, wasmtime, ours=None, why=None):
    return Case(name, *made, wasmtime, ours, why)


CASES = [
    # A path, links not followed at its end.
    case("open file", path_open("file"), "SUCCESS"),
    case("open ../out/secret", path_open("../out/secret"), "PERM"),
    case("open /etc/passwd", path_open("/etc/passwd"), "PERM"),
    case("open nothing", path_open(""), "NOENT"),
    case("open .", path_open("."), "SUCCESS"),
    case("open ..", path_open(".."), "PERM"),
    case("open dir/../file", path_open("dir/../file"), "SUCCESS"),
    case("open dir/../../out/secret", path_open("dir/../../out/secret"), "PERM"),
    case("open esc/secret", path_open("esc/secret"), "PERM"),
    case("open esc", path_open("esc"), "LOOP"),
    case("open esc/", path_open("esc/"), "PERM"),
    case("open abs/passwd", path_open("abs/passwd"), "PERM"),
    case("open in", path_open("in"), "LOOP"),
    case("open in/", path_open("in/"), "SUCCESS"),
    case("open lf/", path_open("lf/"), "NOTDIR"),
    case("open file/", path_open("file/"), "NOTDIR"),
    case("open file/.", path_open("file/."), "NOTDIR"),
    case("open dir/", path_open("dir/"), "SUCCESS"),
    case("open loop", path_open("loop"), "LOOP"),
    case("open with a NUL", path_open("a\0b"), "INVAL"),
    case("open a name of 300 bytes", path_open("x" * 300), "NAMETOOLONG"),
    case("open a path of 6,000 bytes", path_open("y/" * 3000), "NAMETOOLONG"),
    case("open what is not UTF-8", path_open(b"\xff\xfe"), "ILSEQ"),
    # Links followed.
    case("follow esc", path_open("esc", FOLLOW), "PERM"),
    case("follow esc/", path_open("esc/", FOLLOW), "PERM"),
    case("follow esc/secret", path_open("esc/secret", FOLLOW), "PERM"),
    case("follow abs/passwd", path_open("abs/passwd", FOLLOW), "PERM"),
    case("follow in", path_open("in", FOLLOW), "SUCCESS"),
    case("follow lf", path_open("lf", FOLLOW), "SUCCESS"),
    case("follow loop", path_open("loop", FOLLOW), "LOOP"),
    # Flags of opening.
    case("CREAT with DIRECTORY", path_open("nd", 0, CREAT | DIRECTORY_FLAG), "INVAL"),
    case("DIRECTORY on a file", path_open("file", 0, DIRECTORY_FLAG), "NOTDIR"),
    case("DIRECTORY with TRUNC", path_open("dir", 0, DIRECTORY_FLAG | TRUNC), "INVAL"),
    case("EXCL without CREAT", path_open("file", 0, EXCL), "SUCCESS"),
    case("EXCL with CREAT on a file", path_open("file", 0, CREAT | EXCL), "EXIST"),
    case("CREAT on a directory", path_open("dir", 0, CREAT), "ISDIR"),
    case("TRUNC on a directory", path_open("dir", 0, TRUNC), "ISDIR"),
    case("a directory to write", path_open("dir", 0, 0, READ | WRITE), "ISDIR"),
    case("CREAT new/", path_open("new/", 0, CREAT), "ISDIR"),
    case("an unknown open flag", path_open("file", 0, 16), "TRAP", "INVAL", rows.UNKNOWN_FLAG),
    case("an unknown descriptor flag", path_open("file", 0, 0, READ, 32), "TRAP", "INVAL", rows.UNKNOWN_FLAG),
    case("SYNC", path_open("file", 0, 0, WRITE, SYNC), "NOTSUP", "SUCCESS", rows.SYNC_OPEN),
    case("an unknown right", path_open("file", 0, 0, 1 << 40), "TRAP", "INVAL", rows.UNKNOWN_FLAG),
    case("an unknown lookup flag", stat("file", 2), "TRAP", "INVAL", rows.UNKNOWN_FLAG),
    # A read-only tree.
    case("read-only: open to read", path_open("f", fd=RO), "SUCCESS"),
    case("read-only: open to write", path_open("f", rights=WRITE, fd=RO), "PERM"),
    case("read-only: TRUNC with rights to read", path_open("f", 0, TRUNC, READ, fd=RO), "PERM"),
    case("read-only: CREAT a new file", path_open("n", 0, CREAT, READ, fd=RO), "PERM"),
    case("read-only: CREAT on a file", path_open("f", 0, CREAT, READ, fd=RO), "PERM"),
    case("read-only: make a directory", on_path("path_create_directory", "d", fd=RO), "PERM"),
    case("read-only: unlink", on_path("path_unlink_file", "f", fd=RO), "PERM"),
    case("read-only: link out of it", link("f", "g", fd=RO), "PERM"),
    case("read-only: rename out of it", rename("f", "g", fd=RO), "PERM"),
    case("read-only: rename into it", rename("file", "g", new_fd=RO), "PERM"),
    case(
        "read-only: set times", call("path_filestat_set_times", RO, 0, 1000, 1, 1, 1, 5, at_1000=b"f"), "PERM"
    ),
    case("read-only: make a link", symlink("f", "g", fd=RO), "PERM"),
    # Pointers and descriptors of path_open.
    case("the result outside memory", path_open("file", result=65534), "TRAP"),
    case("the result misaligned", path_open("file", result=101), "TRAP"),
    case("a path that ends outside memory", call("path_open", RW, 0, 65530, 10, 0, READ, 0, 0, RESULT), "TRAP"),
    case("a path past 4 GiB", call("path_open", RW, 0, -16, 32, 0, READ, 0, 0, RESULT), "TRAP"),
    case("open beneath stdin", path_open("file", fd=STDIN), "BADF"),
    case("open beneath 99", path_open("file", fd=99), "BADF"),
    case("open beneath -1", path_open("file", fd=-1), "BADF"),
    # Lists of buffers.
    case("write no buffer", call("fd_write", STDOUT, 0, 0, RESULT), "SUCCESS"),
    case("write a list outside memory", call("fd_write", STDOUT, 65532, 1, RESULT), "TRAP"),
    case("write 2^31 buffers", call("fd_write", STDOUT, 0, 1 << 31, RESULT), "NOMEM", "TRAP", rows.LONG_LIST),
    case("write 2^29 + 1 buffers", call("fd_write", STDOUT, 0, 0x20000001, RESULT), "NOMEM", "TRAP", rows.LONG_LIST),
    case("write a buffer that ends outside memory", write(STDOUT, 65530, 10), "TRAP"),
    case("write up to memory's end", write(STDOUT, 65532, 4, at_65532=b"end\n"), "SUCCESS"),
    case("write an empty buffer that points anywhere", write(STDOUT, 0xFFFFFFFF, 0), "SUCCESS"),
    case("write, the count outside memory", call("fd_write", STDOUT, 0, 0, 65533), "TRAP"),
    case("write a misaligned list", call("fd_write", STDOUT, 1, 1, RESULT), "TRAP"),
    case("read from stdout", call("fd_read", STDOUT, 0, 0, RESULT), "BADF"),
    case("write to stdin", call("fd_write", STDIN, 0, 0, RESULT), "BADF"),
    case("read a directory", call("fd_read", RW, 0, 0, RESULT), "BADF"),
    case("pwrite to stdout", call("fd_pwrite", STDOUT, 0, 0, 0, RESULT), "SPIPE"),
    case("pread from stdin", call("fd_pread", STDIN, 0, 0, 0, RESULT), "SPIPE"),
    case("seek on stdin", call("fd_seek", STDIN, 0, 1, RESULT), "SPIPE"),
    case("seek on a directory", call("fd_seek", RW, 0, 1, RESULT), "BADF"),
    case("seek from an unknown place", call("fd_seek", RW, 0, 3, RESULT), "TRAP", "BADF", rows.UNKNOWN_FLAG),
    case("tell of stdout", call("fd_tell", STDOUT, RESULT), "SPIPE"),
    # Waiting.
    case("poll nothing", poll(count=0), "INVAL"),
    case("poll 10,000,000", poll(count=10_000_000), "NOMEM", "TRAP", rows.LONG_LIST),
    case("poll an unknown kind", poll(7), "INVAL"),
    case("poll an unknown clock", poll(0, 9), "INVAL"),
    case("poll the clock of CPU time", poll(0, 2, 1), "INVAL"),
    case("poll misaligned", poll(at=404), "TRAP"),
    case("poll 99", poll(1, 99), "BADF"),
    case("poll a time that is over", poll(0, 1, 1), "SUCCESS"),
    # Randomness.
    case("no randomness", call("random_get", 0, 0), "SUCCESS"),
    case("randomness outside memory", call("random_get", 65530, 100), "TRAP"),
    case("randomness of 4 GiB", call("random_get", 0, -1), "TRAP"),
    case("randomness of all memory", call("random_get", 0, 65536), "SUCCESS"),
    # Descriptors.
    case("renumber to 99", call("fd_renumber", RW, 99), "BADF"),
    case("renumber to itself", call("fd_renumber", RW, RW), "SUCCESS"),
    case("renumber to -1", call("fd_renumber", RW, -1), "BADF"),
    case("renumber 99", call("fd_renumber", 99, RW), "BADF"),
    case("close a preopen", call("fd_close", RW), "SUCCESS"),
    case("close stdin", call("fd_close", STDIN), "SUCCESS"),
    case("allocate on stdin", call("fd_allocate", STDIN, 0, 1), "BADF"),
    case("allocate on a directory", call("fd_allocate", RW, 0, 1), "BADF"),
    case("set a directory's size", call("fd_filestat_set_size", RW, 0), "BADF"),
    case("APPEND on a directory", call("fd_fdstat_set_flags", RW, APPEND), "BADF"),
    case(
        "NONBLOCK on stdout",
        call("fd_fdstat_set_flags", STDOUT, NONBLOCK),
        "BADF",
        "SUCCESS",
        rows.STREAM_FLAGS,
    ),
    case("sync a directory", call("fd_sync", RW), "BADF", "SUCCESS", rows.SYNCED_DIRECTORY),
    case("datasync stdout", call("fd_datasync", STDOUT), "BADF"),
    case("advise on a directory", call("fd_advise", RW, 0, 0, 0), "BADF"),
    case("unknown advice", call("fd_advise", RW, 0, 0, 9), "TRAP", "BADF", rows.UNKNOWN_FLAG),
    case("list stdin", call("fd_readdir", STDIN, 1000, 100, 0, RESULT), "BADF"),
    case("list into no buffer", call("fd_readdir", RW, 1000, 0, 0, RESULT), "SUCCESS"),
    case("list from cookie 2^63", call("fd_readdir", RW, 1000, 100, 1 << 63, RESULT), "SUCCESS"),
    case("list from cookie 1000", call("fd_readdir", RW, 1000, 100, 1000, RESULT), "SUCCESS"),
    case("list to outside memory", call("fd_readdir", RW, 65500, 1000, 0, RESULT), "TRAP"),
    case("prestat of stdin", call("fd_prestat_get", STDIN, RESULT), "BADF"),
    case("prestat of 5", call("fd_prestat_get", 5, RESULT), "BADF"),
    case("a preopen's name, too short", call("fd_prestat_dir_name", RW, 1000, 1), "NAMETOOLONG"),
    case("a preopen's name, too long", call("fd_prestat_dir_name", RW, 1000, 9), "SUCCESS"),
    # Clocks, signals, sockets.
    case(
        "time of the clock of CPU time", call("clock_time_get", 2, 0, RESULT), "BADF", "INVAL", rows.ABSENT_CLOCK
    ),
    case("time of an unknown clock", call("clock_time_get", 9, 0, RESULT), "TRAP", "INVAL", rows.UNKNOWN_FLAG),
    case("resolution of a thread's clock", call("clock_res_get", 3, RESULT), "BADF", "INVAL", rows.ABSENT_CLOCK),
    case("raise a signal", call("proc_raise", 9), "NOTSUP"),
    case("receive on stdout", call("sock_recv", STDOUT, 0, 0, 0, RESULT, 108), "NOTSOCK"),
    case("receive on 99", call("sock_recv", 99, 0, 0, 0, RESULT, 108), "BADF"),
    case("send on 99", call("sock_send", 99, 0, 0, 0, RESULT), "BADF"),
    case("accept on a directory", call("sock_accept", RW, 0, RESULT), "NOTSOCK"),
    case("shut stdout down", call("sock_shutdown", STDOUT, 1), "NOTSOCK"),
    case("shut 99 down", call("sock_shutdown", 99, 1), "BADF"),
    # Changing names.
    case("link to an absolute path", symlink("/etc", "sl1"), "PERM"),
    case("link to what lies above", symlink("../../x", "sl2"), "SUCCESS"),
    case("link to nothing", symlink("", "sl3"), "NOENT"),
    case("link called sl4/", symlink("file", "sl4/"), "NOENT"),
    case("hard link of a directory", link("dir", "hl1"), "PERM"),
    case("hard link of a link", link("lf", "hl2"), "SUCCESS"),
    case("hard link, followed", link("lf", "hl3", FOLLOW), "INVAL"),
    case("hard link called hl4/", link("file", "hl4/"), "NOENT"),
    case("hard link of what lies outside", link("../out/secret", "hl5"), "PERM"),
    case("rename file to n/", rename("file", "n/"), "SUCCESS", "NOTDIR", rows.RENAMED_SLASH),
    case("rename a directory into itself", rename("dir", "dir/sub"), "INVAL"),
    case("rename .", rename(".", "q"), "BUSY"),
    case("rename esc/", rename("esc/", "q"), "NOTDIR"),
    case("rename to the outside", rename("file", "../out/q"), "PERM"),
    case("remove the directory .", on_path("path_remove_directory", "."), "INVAL"),
    case("remove the directory esc/", on_path("path_remove_directory", "esc/"), "PERM", "NOTDIR", rows.REMOVED_SLASH),
    case("unlink esc/", on_path("path_unlink_file", "esc/"), "PERM", "NOTDIR", rows.REMOVED_SLASH),
    case("make esc/new", on_path("path_create_directory", "esc/new"), "PERM"),
    case("make a directory without a name", on_path("path_create_directory", ""), "NOENT"),
    case("read the link abs", on_path("path_readlink", "abs", 2000, 99, RESULT), "PERM"),
    case("read a file as a link", on_path("path_readlink", "file", 2000, 99, RESULT), "INVAL"),
    case("read the link abs into no buffer", on_path("path_readlink", "abs", 2000, 0, RESULT), "PERM"),
    case("stat esc/", stat("esc/"), "SUCCESS", "PERM", rows.STAT_SLASH),
    case("stat file/", stat("file/"), "SUCCESS", "NOTDIR", rows.STAT_SLASH),
]
