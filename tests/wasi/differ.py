#!/usr/bin/env python3
"""Looks for calls that Wasmtime answers otherwise than we.

    differ.py RUN_MODULE [--first N] [--cases N | --seconds N] [--case N] [--all]

Makes modules of one to six calls: an oracle case with something changed, or a story of its own (open something, do things to
it). Both hosts run each on a tree of the same content. Compared are the answers, the memory at the end, what was written to
stdout and stderr, and the tree; a call of ours that traps must have done nothing. A difference that known.py doesn't know is
printed with the least of its calls that still show it.

Needs the package `wasmtime` of PyPI, 48.0.0. Case N is the same on every machine.
"""

import argparse
import collections
import pathlib
import random
import struct
import sys
import tempfile
import time

import known
import memories
import oracle_cases
import rows
import trees
from calls import PAGE, SIGNATURES, Call, RunModule
from reference import Reference
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

# ------------------------------------------------------------------------------------------------------- making cases

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


# ---------------------------------------------------------------------------------------------------- running them


class Pair:
    """Our host and Wasmtime, each on its own tree of the same content."""

    def __init__(self, program, scratch):
        # Roots of the same length: targets of links are then equally long.
        self.roots = [scratch / "ours", scratch / "wasm"]
        self.begun = time.time_ns() - 10**9
        self.fresh = [False, False]
        for root in self.roots:
            trees.make(root, TREE)
        self.at_first = [self.told(0), self.told(1)]
        options = []
        for folder, guest, writable in PREOPENS:
            options += ["--dir" if writable else "--ro-dir", f"{self.roots[0] / folder}::{guest}"]
        self.ours = RunModule(program, options)
        self.theirs = Reference([(self.roots[1] / folder, guest, writable) for folder, guest, writable in PREOPENS])

    def told(self, side):
        return trees.told(self.roots[side], self.begun)

    def run(self, calls, data):
        """[(outcome, tree) of ours, of theirs]"""
        results = []
        for side, host in enumerate((self.ours, self.theirs)):
            if not self.fresh[side]:
                trees.make(self.roots[side], TREE)
            outcome = host.run(calls, data)
            tree = self.told(side)
            self.fresh[side] = tree == self.at_first[side]
            results.append((outcome, tree))
        return results

    def close(self):
        self.ours.close()


def compare(calls, data, results, since):
    """(row of docs/abi.md or None, what differs), or None where nothing does."""
    (ours, our_tree), (theirs, their_tree) = results
    excused = None
    for at, (mine, his) in enumerate(zip(ours.answers, theirs.answers)):
        if mine == his:
            if mine == "SUCCESS" and known.parts(calls, at, data):
                return known.parts(calls, at, data), "parts"  # from here on they are in different states
            continue
        row, difference = known.of_answers(calls, at, data, mine, his), f"{calls[at].function} answers {mine}, Wasmtime {his}"
        if row is None:
            return None, difference
        excused = row, difference
        if not known.both_refused(mine, his):
            return excused
    if len(ours.answers) != len(theirs.answers):
        return None, f"{len(ours.answers)} answers, Wasmtime {len(theirs.answers)}"
    row, difference = memories.difference(calls, data, ours, theirs, since)
    if difference:
        excused = row, difference
    if row is None and difference or row == rows.SMALLEST_NUMBER:
        return excused
    if ours.answers[-1] == "TRAP":
        return excused or ((rows.BAD_POINTER, "") if our_tree != their_tree or ours.output != theirs.output else None)
    if ours.output != theirs.output:
        return None, f"wrote {ours.output!r}, Wasmtime {theirs.output!r}"
    if our_tree != their_tree:
        names = sorted(name for name in our_tree.keys() | their_tree.keys() if our_tree.get(name) != their_tree.get(name))
        return None, "; ".join(f"{name} is {our_tree.get(name)}, Wasmtime's {their_tree.get(name)}" for name in names[:3])
    return excused


def trap_that_did_something(pair, calls, data, results):
    """A call of ours that traps must leave all as the calls before it left it."""
    ours, tree = results[0]
    if ours.answers[-1] != "TRAP":
        return None
    before = len(ours.answers) - 1
    fewer = calls[:before] + [Call("proc_exit", [0])]
    untouched, tree_before = pair.run(fewer, data)[0]
    if tree == tree_before and ours.output == untouched.output:
        return None
    return None, f"{calls[before].function} traps and has done something"


def least(pair, calls, data, row, difference):
    """Without the calls that the same difference doesn't need."""
    at = 0
    while at < len(calls) and len(calls) > 1:
        fewer = calls[:at] + calls[at + 1 :]
        found = compare(fewer, data, pair.run(fewer, data), pair.begun)
        if found and found[0] == row and found[1] == difference:
            calls = fewer
        else:
            at += 1
    return calls


def shown(calls, data):
    lines = [f"    {call.function}({', '.join(str(word) for word in call.words)})" for call in calls]
    return "\n".join(lines + [f"    at {at}: {content[:80]!r}" for at, content in sorted(data.items())])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run_module", type=pathlib.Path)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--cases", type=int, default=10**12)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--case", type=int, help="only this one, and show it")
    parser.add_argument("--all", action="store_true", help="go on after a new difference")
    options = parser.parse_args()
    if options.case is not None:
        options.first, options.cases = options.case, 1

    until = time.monotonic() + options.seconds
    met, answers, new, number = collections.Counter(), collections.Counter(), collections.Counter(), options.first
    with tempfile.TemporaryDirectory(prefix="wasi-differ-") as scratch:
        pair = Pair(options.run_module.resolve(), pathlib.Path(scratch))
        while number < options.first + options.cases and time.monotonic() < until:
            made = Maker(number)
            results = pair.run(made.calls, made.data)
            for call, answer in zip(made.calls, results[0][0].answers):
                answers[call.function, answer] += 1
            found = compare(made.calls, made.data, results, pair.begun)
            found = trap_that_did_something(pair, made.calls, made.data, results) or found
            if options.case is not None:
                print(shown(made.calls, made.data))
                print("ours:    ", results[0][0].answers, "\nWasmtime:", results[1][0].answers, f"\n{found}")
            elif found and found[0]:
                met[found[0]] += 1
            elif found:
                new[found[1]] += 1
                if new[found[1]] == 1:
                    calls = least(pair, made.calls, made.data, *found)
                    print(f"case {number}: {found[1]}\n{shown(calls, made.data)}", flush=True)
                if not options.all:
                    break
            number += 1
            if (number - options.first) % 10_000 == 0:
                print(f"{number - options.first} cases, {len(new)} new differences so far", flush=True)
        pair.close()
    for row, count in met.most_common():
        print(f"{count:8}  {row}")
    succeeded = {function for function, answer in answers if answer == "SUCCESS"}
    never = sorted(SIGNATURES.keys() - succeeded)
    if options.case is None:
        print(f"never answered with success: {', '.join(never)}")
    print(f"{number - options.first} cases, {sum(answers.values())} calls, {len(new)} new differences")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
