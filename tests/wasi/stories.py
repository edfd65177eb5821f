"""The differ's cases: modules of one to six calls, made by their number, and the tree that their paths speak of."""

import random
import struct

import oracle_cases
from calls import PAGE, SIGNATURES, Call
from trees import DIRECTORY, Link

TREE = {
    **oracle_cases.TREE,
    "pre/abs": Link("{root}/out"),
    "pre/dir/inner": b"inner",
    "pre/dir/deep": DIRECTORY,
    "pre/dir/deep/f": b"deep down",
    "pre/dir/up": Link("../file"),
    "pre/empty": DIRECTORY,
    "pre/self": Link("."),
    "pre/bounce": Link("../pre/file"),
    "pre/dangling": Link("absent"),
    "pre/long": bytes(range(256)) * 20,
    "pre/\u00fc": b"umlaut",
    "ro/d": DIRECTORY,
    "ro/d/g": b"beneath",
    "ro/l": Link("f"),
    "other": DIRECTORY,
    "other/file": b"of the other tree",
    "other/dir": DIRECTORY,
}
PREOPENS = [("pre", "/v", True), ("ro", "/ro", False), ("other", "/other", True)]
FIRST_OPENED = 3 + len(PREOPENS)

NAMES = (
    "file dir dir/inner dir/deep dir/deep/f dir/up empty esc esc/secret esc/new abs abs/secret in in/inner lf loop loop/x self "
    "self/file self/self/file bounce dangling long \u00fc f d d/g l new new2 dir/new empty/new absent/x . .. ./file dir/.. "
    "dir/../file dir/./inner dir/../../out/secret ../out/secret ../pre/file /etc/passwd / file/x"
).split()
PLAIN_NAMES = (
    "file dir dir/inner dir/deep dir/deep/f empty lf in esc dangling long new new2 dir/new empty/new in/x dir/ new/"
).split()
OF_NAMES = (
    "path_rename path_rename path_link path_symlink path_unlink_file path_remove_directory path_create_directory path_open "
    "path_filestat_get path_filestat_get path_readlink path_filestat_set_times fd_readdir"
).split()
OF_ONE_FILE = (
    "fd_read fd_read fd_write fd_write fd_pread fd_pwrite fd_seek fd_seek fd_tell fd_filestat_set_size fd_filestat_get "
    "fd_fdstat_set_flags fd_filestat_set_times"
).split()


class Maker:
    """One case: its calls, and the memory that they need."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.data = {}
        self.free = 64
        self.opened = 0
        self.calls = []
        self.only = None  # the one descriptor that a story is about, or the few names
        self.names = None
        if self.chance(0.15):
            self.change_an_oracle_case()
        elif self.chance(0.35):
            self.tell_of_one_file()
        elif self.chance(0.35):
            self.tell_of_names()
        else:
            self.tell_a_story()

    def chance(self, p):
        return self.random.random() < p

    def pick(self, *choices):
        return self.random.choice(choices)

    # Memory.

    def room(self, size, alignment=8):
        """An address of its own for so many bytes; now and then a bad one."""
        if self.chance(0.004):
            return self.pick(PAGE - size + 1, PAGE, PAGE - 1, -1, -size, 1 << 31) // alignment * alignment
        if alignment > 1 and self.chance(0.003):
            return self.free // 8 * 8 + 1
        at = (self.free + alignment - 1) // alignment * alignment
        self.free = at + max(size, 1)
        if self.free > PAGE:
            self.free = PAGE
            return 0
        return at

    def place(self, content, alignment=1):
        at = self.room(len(content), alignment)
        if 0 <= at <= PAGE - len(content) and content:
            self.data[at] = content
        return at

    # Arguments.

    def path(self):
        if self.names:
            content = self.pick(*self.names).encode()
            return [self.place(content), len(content)]
        name = self.pick(*NAMES)
        if self.chance(0.15):
            name += "/" + self.pick(*NAMES)
        if self.chance(0.12):
            name += self.pick("/", "//", "/.", "/..", "/./")
        if self.chance(0.03):
            name = self.pick("", "a\0b", "file\0", "x" * 255, "x" * 256, "d/" * 2047 + "f", "d/" * 2048, "./" * 2045 + "file")
        content = name.encode()
        if self.chance(0.01):
            content = self.pick(b"\xff\xfe", b"file\xff", b"\xc3", b"\xed\xa0\x80")
        return [self.place(content), len(content)]

    def directory(self):
        return self.fd() if self.chance(0.12) else self.pick(3, 3, 3, 3, 3, 4, 5)

    def fd(self):
        if self.only is not None:
            return self.only
        if self.opened and self.chance(0.8):
            return FIRST_OPENED + self.random.randrange(self.opened)
        return self.pick(0, 1, 2, 3, 3, 4, 5, FIRST_OPENED, FIRST_OPENED + 1, 99, 1023, 1024, 1 << 31, -1)

    def flags(self, *known_ones, unknown=32):
        if self.chance(0.01):
            return unknown
        return self.pick(*known_ones)

    def lookup(self):
        return self.flags(0, 0, 1, unknown=2)

    def rights(self):
        if self.chance(0.01):
            return 1 << self.random.randrange(64)
        return self.pick(2, 2, 64, 66, 66, 0, (1 << 30) - 1, 2 | 1 << 14, 1 << 2 | 2, 64 | 1 << 22)

    def number(self):
        return self.pick(0, 0, 1, 2, 3, 5, 10, 100, 4096, 5120, 100000, 1 << 31, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)

    def time(self):
        return self.pick(0, 1, 10**9, 1_234_567_890_123_456_789, 1 << 62)

    def buffers(self, content):
        """A list of buffers: most often one that isn't empty, as Wasmtime moves no more than one at a time."""
        entries = []
        for _ in range(self.pick(1, 1, 1, 1, 2, 3, 0)):
            empty = bool(entries) and any(length for _, length in entries) and not self.chance(0.1)
            length = 0 if empty else self.pick(0, 1, 3, 10, 100, 4000)
            at = self.place(bytes(self.random.randrange(97, 123) for _ in range(length))) if content else self.room(length, 1)
            entries.append((at, length))
        listed = b"".join(struct.pack("<II", at & 0xFFFFFFFF, length) for at, length in entries)
        return [self.place(listed, 4), len(entries)]

    def subscriptions(self):
        listed = b""
        count = self.pick(1, 1, 2, 3)
        for _ in range(count):
            tag = self.pick(0, 0, 1, 2, 2, 3) if self.chance(0.3) else self.pick(0, 1, 2)
            if tag == 0:  # one that is over, and then perhaps one that won't be before tomorrow
                number, flags = self.flags(0, 1, 1, unknown=self.pick(2, 3, 9)), self.flags(0, 0, 1, unknown=2)
                timeout = self.pick(0, 10**13) if listed else 0
            else:
                number, flags, timeout = self.fd(), 0, 0
            listed += struct.pack(
                "<QQIIQQHHI", self.random.randrange(1 << 32), tag, number & 0xFFFFFFFF, 0, timeout, 0, flags, 0, 0
            )
        return [self.place(listed, 8), self.room(32 * count, 8), count]

    def words(self, function):
        result = lambda size=4: self.room(size, min(size, 8))
        match function:
            case "args_get" | "environ_get":
                return [self.room(16, 4), self.room(64, 1)]
            case "args_sizes_get" | "environ_sizes_get":
                return [result(), result()]
            case "clock_res_get":
                return [self.flags(0, 1, 2, 3, unknown=9), result(8)]
            case "clock_time_get":
                return [self.flags(0, 1, 1, 2, unknown=4), self.pick(0, 1, -1), result(8)]
            case "fd_advise":
                return [self.fd(), self.number(), self.number(), self.flags(0, 1, 2, 3, 4, 5, unknown=6)]
            case "fd_allocate":
                return [self.fd(), self.number(), self.number()]
            case "fd_close" | "fd_datasync" | "fd_sync":
                return [self.fd()]
            case "fd_fdstat_get":
                return [self.fd(), self.room(24, 8)]
            case "fd_fdstat_set_flags":
                return [self.fd(), self.flags(0, 0, 1, 1, 4, 5, 16)]
            case "fd_fdstat_set_rights":
                return [self.fd(), self.rights(), self.pick(0, self.rights())]
            case "fd_filestat_get":
                return [self.fd(), self.room(64, 8)]
            case "fd_filestat_set_size":
                return [self.fd(), self.number()]
            case "fd_filestat_set_times":
                return [self.fd(), self.time(), self.time(), self.flags(0, 1, 4, 5, 2, 8, 10, 3, 12, unknown=16)]
            case "fd_pread" | "fd_pwrite":
                return [self.fd(), *self.buffers(function == "fd_pwrite"), self.number(), result()]
            case "fd_read" | "fd_write":
                return [self.fd(), *self.buffers(function == "fd_write"), result()]
            case "fd_prestat_dir_name":
                length = self.pick(0, 1, 2, 3, 6, 9)
                return [self.fd(), self.room(length, 1), length]
            case "fd_prestat_get":
                return [self.fd(), self.room(8, 4)]
            case "fd_readdir":
                length = self.pick(0, 10, 24, 100, 1000, 4000, 4000)
                fd, cookie = self.pick(self.fd(), self.directory()), self.pick(0, 0, 0, 1 << 63)
                return [fd, self.room(length, 1), length, cookie, result()]
            case "fd_renumber":
                return [self.fd(), self.fd()]
            case "fd_seek":
                delta = self.pick(0, 1, 3, -1, -3, 100, (1 << 63) - 1, 1 << 63)
                return [self.fd(), delta, self.flags(0, 1, 2, unknown=3), result(8)]
            case "fd_tell":
                return [self.fd(), result(8)]
            case "path_create_directory" | "path_remove_directory" | "path_unlink_file":
                return [self.directory(), *self.path()]
            case "path_filestat_get":
                return [self.directory(), self.lookup(), *self.path(), self.room(64, 8)]
            case "path_filestat_set_times":
                flags = self.flags(0, 1, 4, 5, 2, 8, 10, 3, 12, unknown=16)
                return [self.directory(), self.lookup(), *self.path(), self.time(), self.time(), flags]
            case "path_link":
                return [self.directory(), self.flags(0, 0, 0, 0, 1, unknown=2), *self.path(), self.directory(), *self.path()]
            case "path_open":
                oflags = self.flags(0, 0, 0, 1, 1, 2, 5, 8, 9, 4, 3, 10, 12, unknown=16)
                fdflags = self.flags(0, 0, 0, 0, 1, 1, 4, self.pick(0, 0, 0, 2, 8, 16), unknown=32)
                inheriting = self.pick(0, 0, self.rights())
                made = [self.directory(), self.lookup(), *self.path(), oflags, self.rights(), inheriting, fdflags, result()]
                self.opened += 1
                return made
            case "path_readlink":
                length = self.pick(0, 1, 4, 100)
                return [self.directory(), *self.path(), self.room(length, 1), length, result()]
            case "path_rename":
                return [self.directory(), *self.path(), self.directory(), *self.path()]
            case "path_symlink":
                return [*self.path(), self.directory(), *self.path()]
            case "poll_oneoff":
                return [*self.subscriptions(), result()]
            case "proc_exit" | "proc_raise":
                return [self.pick(0, 1, 3, 9, 125, 126, 255, 256, -1)]
            case "random_get":
                length = self.pick(0, 1, 16, 1000)
                return [self.room(length, 1), length]
            case "sched_yield":
                return []
            case "sock_accept":
                return [self.fd(), self.flags(0, 4), result()]
            case "sock_recv":
                return [self.fd(), *self.buffers(False), self.flags(0, 1, 2, unknown=4), result(), result(2)]
            case "sock_send":
                return [self.fd(), *self.buffers(True), self.flags(0, 0, unknown=1), result()]
            case "sock_shutdown":
                return [self.fd(), self.flags(1, 2, 3, 0, unknown=4)]

    # Cases.

    def add(self, function):
        self.calls.append(Call(function, self.words(function)))

    def open_something(self, directory=True):
        """A path_open that is likely to work, of a file or a directory."""
        if not directory or self.chance(0.75):
            name = self.pick("file", "long", "dir/inner", "new", "lf", "dir/deep/f", "self/file").encode()
            oflags, rights = self.pick(0, 0, 1, 8, 9), self.pick(2, 64, 66, 66, 66)
        else:
            name, oflags, rights = self.pick("dir", ".", "dir/deep", "empty", "in/").encode(), self.pick(0, 2), self.pick(2, 0)
        fdflags = self.pick(0, 0, 0, 1)
        words = [3, self.pick(0, 1, 1), self.place(name), len(name), oflags, rights, rights, fdflags, self.room(4, 4)]
        self.calls.append(Call("path_open", words))
        self.opened += 1

    def tell_of_one_file(self):
        self.open_something(directory=False)
        self.only = FIRST_OPENED
        for _ in range(self.pick(2, 3, 4, 5)):
            self.add(self.pick(*OF_ONE_FILE))

    def tell_of_names(self):
        self.names = self.random.sample(PLAIN_NAMES, 4)
        for _ in range(self.pick(2, 3, 4, 5, 6)):
            self.add(self.pick(*OF_NAMES))

    def tell_a_story(self):
        length = self.pick(1, 2, 3, 4, 5, 6)
        while len(self.calls) < length:
            if self.chance(0.4) and self.opened < 4:
                self.open_something() if self.chance(0.6) else self.add("path_open")
            elif self.opened and self.chance(0.5):
                self.add(self.pick(*(name for name in SIGNATURES if name.startswith("fd_"))))
            else:
                self.add(self.pick(*(name for name in SIGNATURES if name != "proc_exit" or self.chance(0.2))))

    def change_an_oracle_case(self):
        case = self.pick(*oracle_cases.CASES)
        words, self.data = list(case.call.words), dict(case.memory)
        self.free = 16000
        at = self.random.randrange(len(words) + 1)
        if at < len(words):
            words[at] = self.pick(
                words[at] ^ 1 << self.random.randrange(64),
                words[at] + self.pick(1, -1, 4, 8),
                self.pick(0, 1, 3, 4, 5, 8, 100, PAGE - 1, PAGE, -1, 1 << 31, 1 << 63),
            )
        for place, content in list(self.data.items()):
            if self.chance(0.3) and place >= 1000 and content:
                replaced = bytearray(content)
                replaced[self.random.randrange(len(replaced))] = self.random.choice(b"./\0fed\xff")
                self.data[place] = bytes(replaced)
        self.calls = [Call(case.call.function, words)]
