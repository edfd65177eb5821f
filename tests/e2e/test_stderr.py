"""The guest's stderr, live: passed through, escaped where people see it, never a brake on the guest (spec: C7)."""

import json
import os
import pty
import re
import select
import signal
import time

from conftest import SLOWDOWN, guest


def read_terminal(start, *arguments, env=None, stdout_too=False, interrupt_at=None):
    """Runs subako with stderr (and stdout) on a terminal; all bytes that it showed, and the status."""
    terminal, inside = pty.openpty()
    try:
        process = start(
            *arguments,
            env={"TERM": "xterm"} | (env or {}),
            stderr=inside,
            **({"stdout": inside} if stdout_too else {})
        )
        os.close(inside)
        shown = b""
        deadline = time.monotonic() + 30 * SLOWDOWN
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    data = os.read(terminal, 65536)
                except OSError:
                    break
                if not data:
                    break
                shown += data
            if interrupt_at and interrupt_at in shown:
                process.send_signal(signal.SIGINT)
                interrupt_at = None
        process.wait(timeout=10)
        return shown, process.returncode
    finally:
        os.close(terminal)


def test_stderr_passes_through_while_the_guest_runs(start):
    process = start("call", guest("hold"), "hold")
    assert process.stderr.readline() == b"holding\n"
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.wait(timeout=10)


def test_stderr_in_a_pipe_is_passed_untouched(subako):
    run = subako("call", guest("hostile/c7_stderr_escapes"), "misbehave")
    assert b"\x1b[31mred\x1b[0m \x1b]0;title\x07 caf\xe9 \xe2\x80\xae ok\n" in run.stderr_bytes, run


def test_stderr_on_a_terminal_is_escaped(start):
    shown, status = read_terminal(
        start, "call", guest("hostile/c7_stderr_escapes"), "misbehave", env={"NO_COLOR": "1"}
    )
    assert status == 0
    for dangerous in (b"\x1b[31m", b"\x1b]0;", b"\x07", b"\xe9", b"\xe2\x80\xae"):
        assert dangerous not in shown, shown
    assert b"red" in shown and b"title" in shown and b"caf" in shown and b"ok" in shown, shown


def test_answer_on_a_terminal_is_escaped(start):
    shown, status = read_terminal(
        start, "call", guest("hostile/c7_stderr_escapes"), "misbehave", env={"NO_COLOR": "1"}, stdout_too=True
    )
    assert status == 0 and b"\x1b[31m" not in shown and b"escaped" in shown, shown


def test_stderr_of_notes_is_shown_and_not_in_the_answer(subako):
    run = subako("call", guest("greet"), "note", '{"text":"hello"}')
    assert "noted: hello\n" in run.stderr and "noted: hello" not in run.stdout, run


def test_slow_reader_never_holds_up_the_guest(start):  # spec: C7
    process = start("call", "--json", guest("hostile/c7_stderr_flood"), "misbehave")
    time.sleep(2 * SLOWDOWN)  # nobody reads
    stdout, stderr = process.communicate(timeout=20 * SLOWDOWN)
    outcome = json.loads(stdout)
    assert outcome["outcome"] == "answered", stdout
    assert outcome["timings_ms"]["run"] < 1500 * SLOWDOWN, outcome["timings_ms"]
    assert len(stderr) < 1 << 20, "8 MiB were kept for a reader that never came"
    marks = [line for line in stderr.split(b"\n") if re.search(rb"[0-9]", line)]
    assert marks, "the gap is not marked"


def test_reader_that_keeps_up_gets_most(subako):
    run = subako("call", "--json", guest("hostile/c7_stderr_flood"), "misbehave")
    assert run.json["outcome"] == "answered"
    assert len(run.stderr_bytes) >= 64 * 1024


def test_reader_that_went_away_is_no_fault(start):
    process = start("call", "--json", guest("hostile/c7_stderr_flood"), "misbehave")
    process.stderr.close()
    stdout = process.stdout.read()
    process.wait(timeout=20 * SLOWDOWN)
    process.stderr = None
    assert json.loads(stdout)["outcome"] == "answered"


def test_progress_line_on_a_terminal_only(start, subako):
    shown, status = read_terminal(start, "check", guest("greet"), stdout_too=True)
    assert status == 0 and b"greet" in shown, shown
    run = subako("check", guest("greet"))
    assert "\r" not in run.stdout + run.stderr and "ompiling" not in run.stderr, run


def test_no_color_is_respected(start):
    shown, _ = read_terminal(start, "check", guest("hostile/u3_name"), env={"NO_COLOR": "1"}, stdout_too=True)
    assert not re.search(rb"\x1b\[[0-9;]*m", shown), shown


def test_ctrl_c_on_a_terminal(start):
    shown, status = read_terminal(start, "call", guest("hold"), "spin", interrupt_at=b"holding")
    assert status not in (0, 1, 2, 4) and b"ancel" in shown, (status, shown)
