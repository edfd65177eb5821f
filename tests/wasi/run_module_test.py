#!/usr/bin/env python3
"""run_module itself, and what only a real clock and a real stdin show.   run_module_test.py RUN_MODULE"""

import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

RUN_MODULE = None

# $sleep waits as long as the clock says: relative to now, or until then. $wait waits for stdin, 2 s at most, and gives the kind
# of the first event. Both end the guest with 70 where poll_oneoff fails.
GUEST = """(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $time (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func $now (param $clock i32) (result i64)
    (drop (call $time (local.get $clock) (i64.const 0) (i32.const 8)))
    (i64.load (i32.const 8)))
  (func $clock (param $at i32) (param $clock i32) (param $timeout i64) (param $flags i32)
    (i32.store8 offset=8 (local.get $at) (i32.const 0))
    (i32.store offset=16 (local.get $at) (local.get $clock))
    (i64.store offset=24 (local.get $at) (local.get $timeout))
    (i32.store16 offset=40 (local.get $at) (local.get $flags)))
  (func $polled (param $count i32)
    (if (call $poll (i32.const 64) (i32.const 256) (local.get $count) (i32.const 16)) (then (call $exit (i32.const 70)))))
  (func $sleep (param $clock i32) (param $timeout i64) (param $flags i32)
    (call $clock (i32.const 64) (local.get $clock) (local.get $timeout) (local.get $flags))
    (call $polled (i32.const 1)))
  (func $wait (result i32)
    (i32.store8 offset=8 (i32.const 64) (i32.const 1))
    (i32.store offset=16 (i32.const 64) (i32.const 0))
    (call $clock (i32.const 112) (i32.const 1) (i64.const 2000000000) (i32.const 0))
    (call $polled (i32.const 2))
    (i32.load8_u offset=10 (i32.const 256)))
  (func $echo (result i32)
    (i32.store (i32.const 400) (i32.const 1000))
    (i32.store (i32.const 404) (i32.const 1000))
    (drop (call $read (i32.const 0) (i32.const 400) (i32.const 1) (i32.const 408)))
    (i32.store (i32.const 404) (i32.load (i32.const 408)))
    (drop (call $write (i32.const 1) (i32.const 400) (i32.const 1) (i32.const 412)))
    (i32.load (i32.const 408)))
  (func (export "_start") (local $began i64) BODY))
"""


def sleeps(clock, timeout, flags):
    """Exit status 1 where it ends early, by either clock."""
    began = "(local.set $began (call $now (i32.const %d)))" % clock
    call = f"(call $sleep (i32.const {clock}) {timeout} (i32.const {flags}))"
    early = "(i64.lt_u (i64.sub (call $now (i32.const %d)) (local.get $began)) (i64.const 5000000))" % clock
    return f"{began} {call} (if {early} (then (call $exit (i32.const 1))))"


class RunModule(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="run-module-")
        self.addCleanup(self.scratch.cleanup)

    def command(self, body):
        text = pathlib.Path(self.scratch.name) / "guest.wat"
        text.write_text(GUEST.replace("BODY", body))
        subprocess.run(["wat2wasm", text, "-o", text.with_suffix(".wasm")], check=True)
        return [RUN_MODULE, text.with_suffix(".wasm")]

    def run_guest(self, body, stdin=b""):
        return subprocess.run(self.command(body), input=stdin, capture_output=True, timeout=20)

    def test_a_sleep_lasts_as_long_as_it_says(self):
        soon = "(i64.add (local.get $began) (i64.const 5000000))"
        for clock in (0, 1):
            self.assertEqual(self.run_guest(sleeps(clock, "(i64.const 5000000)", 0)).returncode, 0, clock)
            self.assertEqual(self.run_guest(sleeps(clock, soon, 1)).returncode, 0, clock)
        self.assertEqual(self.run_guest(sleeps(1, "(i64.const 0)", 0)).returncode, 1, "the guest can tell")

    def test_waiting_ends_with_input(self):
        child = subprocess.Popen(
            self.command("(call $exit (i32.add (call $wait) (call $echo)))"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        time.sleep(0.1)
        self.assertIsNone(child.poll(), "it waits")
        began = time.monotonic()
        output, _ = child.communicate(b"hello", timeout=20)
        self.assertLess(time.monotonic() - began, 1.5)
        self.assertEqual((child.returncode, output), (1 + 5, b"hello"))

    def test_waiting_ends_with_time(self):
        child = subprocess.Popen(self.command("(call $exit (call $wait))"), stdin=subprocess.PIPE)
        began = time.monotonic()
        self.assertEqual(child.wait(timeout=20), 0, "the event of a clock")
        self.assertGreater(time.monotonic() - began, 1.9)
        child.stdin.close()

    def test_reading_waits_and_ends_at_the_end(self):
        self.assertEqual(self.run_guest("(loop $l (br_if $l (call $echo)))", b"x" * 5000).stdout, b"x" * 5000)
        self.assertEqual(self.run_guest("(call $exit (i32.add (call $wait) (call $echo)))").returncode, 1)

    def test_the_exit_status_is_the_guests(self):
        self.assertEqual(self.run_guest("(call $exit (i32.const 33))").returncode, 33)
        trapped = self.run_guest("unreachable")
        self.assertEqual(trapped.returncode, 134)
        self.assertIn(b"unreachable", trapped.stderr)

    def test_what_cannot_be_run_is_told(self):
        for words, why in (
            ([], "no module is named"),
            (["--dir", "nothing"], "HOST::GUEST"),
            (["--what", "x"], "no option --what"),
            (["nothing.wasm"], "nothing.wasm can't be opened"),
            ([__file__], "WebAssembly"),
            (["--dir", "/nothing::/", *self.command("")[1:]], "/nothing"),
        ):
            ran = subprocess.run([RUN_MODULE, *words], capture_output=True, text=True, timeout=20)
            self.assertEqual(ran.returncode, 125, words)
            self.assertIn(why, ran.stderr)


if __name__ == "__main__":
    RUN_MODULE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
