"""Modules that make a few WASI calls and tell what came of them; and run_module, which runs them.

A module is bytes made here, so that a thousand of them cost nothing. It makes its calls in order, with constant arguments, and
tells each answer at once; where no call traps or exits, it tells its whole memory, one page, at the end.
"""

import dataclasses
import struct
import subprocess

WASI = "wasi_snapshot_preview1"
PAGE = 65536

# Parameters of each function: i is an i32, I an i64. All answer an i32 but proc_exit.
SIGNATURES = {
    "args_get": "ii",
    "args_sizes_get": "ii",
    "clock_res_get": "ii",
    "clock_time_get": "iIi",
    "environ_get": "ii",
    "environ_sizes_get": "ii",
    "fd_advise": "iIIi",
    "fd_allocate": "iII",
    "fd_close": "i",
    "fd_datasync": "i",
    "fd_fdstat_get": "ii",
    "fd_fdstat_set_flags": "ii",
    "fd_fdstat_set_rights": "iII",
    "fd_filestat_get": "ii",
    "fd_filestat_set_size": "iI",
    "fd_filestat_set_times": "iIIi",
    "fd_pread": "iiiIi",
    "fd_prestat_dir_name": "iii",
    "fd_prestat_get": "ii",
    "fd_pwrite": "iiiIi",
    "fd_read": "iiii",
    "fd_readdir": "iiiIi",
    "fd_renumber": "ii",
    "fd_seek": "iIii",
    "fd_sync": "i",
    "fd_tell": "ii",
    "fd_write": "iiii",
    "path_create_directory": "iii",
    "path_filestat_get": "iiiii",
    "path_filestat_set_times": "iiiiIIi",
    "path_link": "iiiiiii",
    "path_open": "iiiiiIIii",
    "path_readlink": "iiiiii",
    "path_remove_directory": "iii",
    "path_rename": "iiiiii",
    "path_symlink": "iiiii",
    "path_unlink_file": "iii",
    "poll_oneoff": "iiii",
    "proc_exit": "i",
    "proc_raise": "i",
    "random_get": "ii",
    "sched_yield": "",
    "sock_accept": "iii",
    "sock_recv": "iiiiii",
    "sock_send": "iiiii",
    "sock_shutdown": "ii",
}

ERRNOS = (
    "SUCCESS 2BIG ACCES ADDRINUSE ADDRNOTAVAIL AFNOSUPPORT AGAIN ALREADY BADF BADMSG BUSY CANCELED CHILD CONNABORTED "
    "CONNREFUSED CONNRESET DEADLK DESTADDRREQ DOM DQUOT EXIST FAULT FBIG HOSTUNREACH IDRM ILSEQ INPROGRESS INTR INVAL IO "
    "ISCONN ISDIR LOOP MFILE MLINK MSGSIZE MULTIHOP NAMETOOLONG NETDOWN NETRESET NETUNREACH NFILE NOBUFS NODEV NOENT NOEXEC "
    "NOLCK NOLINK NOMEM NOMSG NOPROTOOPT NOSPC NOSYS NOTCONN NOTDIR NOTEMPTY NOTRECOVERABLE NOTSOCK NOTSUP NOTTY NXIO "
    "OVERFLOW OWNERDEAD PERM PIPE PROTO PROTONOSUPPORT PROTOTYPE RANGE ROFS SPIPE SRCH STALE TIMEDOUT TXTBSY XDEV NOTCAPABLE"
).split()


@dataclasses.dataclass
class Call:
    function: str
    words: list  # ints of any sign; wrapped to the parameter's width


@dataclasses.dataclass
class Outcome:
    answers: list  # an errno's name for each call; the last may be "TRAP", "EXIT 3" or "REFUSED <why>"
    memory: bytes = b""  # at the end; empty after a trap or an exit
    output: bytes = b""  # stdout and stderr


# ------------------------------------------------------------------------------------------------------- the module


def leb(value):
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        if value:
            out.append(low | 0x80)
        else:
            return bytes(out) + bytes([low])


def sleb(value):
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        done = (value == 0 and not low & 0x40) or (value == -1 and low & 0x40)
        out.append(low if done else low | 0x80)
        if done:
            return bytes(out)


def vector(items):
    return leb(len(items)) + b"".join(items)


def name(text):
    return leb(len(text)) + text.encode()


def section(number, body):
    return bytes([number]) + leb(len(body)) + body


def const(kind, value):
    bits = 64 if kind == "I" else 32
    value &= (1 << bits) - 1
    if value >> (bits - 1):
        value -= 1 << bits
    return (b"\x42" if kind == "I" else b"\x41") + sleb(value)


def module(calls, data):
    """`data`: {address: bytes} of the memory at the start."""
    functions = list(dict.fromkeys(call.function for call in calls))
    index = {function: number for number, function in enumerate(functions)}
    answer, memory = len(functions), len(functions) + 1

    def type_of(params, results):
        as_bytes = bytes(0x7E if kind == "I" else 0x7F for kind in params)
        return b"\x60" + vector([bytes([b]) for b in as_bytes]) + vector([b"\x7f"] * results)

    types = [type_of(SIGNATURES[function], function != "proc_exit") for function in functions]
    types += [type_of("i", 1), type_of("ii", 1), type_of("", 0)]
    imports = [name(WASI) + name(function) + b"\x00" + leb(index[function]) for function in functions]
    imports += [name("test") + name("answer") + b"\x00" + leb(answer)]
    imports += [name("test") + name("memory") + b"\x00" + leb(memory)]

    code = b""
    for call in calls:
        kinds = SIGNATURES[call.function]
        assert len(kinds) == len(call.words), call
        code += b"".join(const(kind, word) for kind, word in zip(kinds, call.words))
        code += b"\x10" + leb(index[call.function])
        if call.function != "proc_exit":
            code += b"\x10" + leb(answer) + b"\x1a"
    code += const("i", 0) + const("i", PAGE) + b"\x10" + leb(memory) + b"\x1a"
    body = vector([]) + code + b"\x0b"

    start = len(imports)
    return (
        b"\0asm\1\0\0\0"
        + section(1, vector(types))
        + section(2, vector(imports))
        + section(3, vector([leb(len(types) - 1)]))
        + section(5, vector([b"\x00\x01"]))
        + section(7, vector([name("memory") + b"\x02\x00", name("_start") + b"\x00" + leb(start)]))
        + section(10, vector([leb(len(body)) + body]))
        + section(
            11, vector([b"\x00" + const("i", at) + b"\x0b" + leb(len(b)) + b for at, b in sorted(data.items()) if b])
        )
    )


# ---------------------------------------------------------------------------------------------------- who runs it


def errno_name(number):
    return ERRNOS[number] if number < len(ERRNOS) else str(number)


class RunModule:
    """`run_module --serve`, which is ours. `options`: its directories."""

    def __init__(self, program, options):
        self.process = subprocess.Popen(
            [program, "--serve", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def text(self):
        (length,) = struct.unpack("<I", self.process.stdout.read(4))
        return self.process.stdout.read(length)

    def run(self, calls, data):
        wasm = module(calls, data)
        self.process.stdin.write(struct.pack("<I", len(wasm)) + wasm)
        self.process.stdin.flush()
        end, told, output = self.text().decode(), self.text(), self.text()
        if end.startswith("refused"):
            return Outcome([end.upper()])
        last = len(calls) if end == "exited 0" and len(told) >= PAGE else len(told) // 4
        answers = [errno_name(number) for (number,) in struct.iter_unpack("<I", told[: 4 * last])]
        memory = told[4 * last :]
        if end.startswith("trapped"):
            answers.append("TRAP")
        elif not memory:
            answers.append(end.replace("exited", "EXIT"))
        return Outcome(answers, memory, output)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
