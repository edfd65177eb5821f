"""End-to-end tests: the real binary, from outside.

SUBAKO           the binary (else build/bin/subako of this tree); subako-child lies beside it
SUBAKO_GUESTS    the built guests (else build/guests)
SUBAKO_SANDBOX   what keeps the tools in (docs/operating.md), else the best that there is
SUBAKO_SLOWDOWN  a factor for every deadline, for sanitizer builds and slow machines

SUBAKO_CACHE_DIR is a new folder for the whole run: each guest is compiled by the first test that needs it.

Every test gets an empty $TMPDIR, and afterwards it must be empty again and no process may be left: pytest takes in orphans
(PR_SET_CHILD_SUBREAPER), so that none can hide.
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUBAKO = pathlib.Path(os.environ.get("SUBAKO") or ROOT / "build" / "bin" / "subako")
GUESTS = pathlib.Path(os.environ.get("SUBAKO_GUESTS") or ROOT / "build" / "guests")
SLOWDOWN = float(os.environ.get("SUBAKO_SLOWDOWN") or 1)
PR_SET_CHILD_SUBREAPER = 36


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes seconds; leave out with -m 'not slow'")
    config.addinivalue_line("markers", "leaves_scratch: kills subako itself, which then can't clean up")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def pytest_sessionstart(session):
    if session.config.option.collectonly:
        return
    os.environ["SUBAKO_CACHE_DIR"] = tempfile.mkdtemp(prefix="subako-e2e-cache-")
    for path, what in (
        (SUBAKO, "the binary"),
        (SUBAKO.with_name("subako-child"), "its child"),
        (GUESTS, "the guests"),
    ):
        if not path.exists():
            pytest.exit(
                f"{what} is missing at {path}; run `make build`, or set SUBAKO and SUBAKO_GUESTS",
                returncode=4,
            )


def pytest_sessionfinish(session):
    if not session.config.option.collectonly and "SUBAKO_CACHE_DIR" in os.environ:
        shutil.rmtree(os.environ["SUBAKO_CACHE_DIR"], ignore_errors=True)


# ------------------------------------------------------------------------------------------------ processes


def processes():
    """{pid: (parent, state)} of this machine"""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                found[int(entry)] = (int(fields[1]), fields[0])
            except (OSError, IndexError):
                pass
    return found


def descendants(pid):
    """Those of `pid` that haven't ended, parents before children."""
    table = processes()
    found, todo = [], [pid]
    while todo:
        parent = todo.pop(0)
        for child, (its_parent, state) in table.items():
            if its_parent == parent and child != pid:
                todo.append(child)
                if state not in "ZX":
                    found.append(child)
    return found


def program_of(pid):
    # Not where its executable lies: that of a process which keeps its memory from others isn't told to all.
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def children_of_subako(pid=None):
    return [
        child for child in descendants(pid or os.getpid()) if program_of(child) in ("subako", "subako-child")
    ]


def deny_calls(error, *numbers):
    """What a container's seccomp profile does to system calls (x86-64), for the process that calls this and its children."""
    load_number, equals, give = 0x20, 0x15, 0x06  # of classic BPF: the system call's number lies at 0
    fail, allow = 0x00050000 | error, 0x7FFF0000
    lines = [(load_number, 0, 0, 0)]
    for number in numbers:
        lines += [(equals, 0, 1, number), (give, 0, 0, fail)]
    lines.append((give, 0, 0, allow))
    program = b"".join(struct.pack("HBBI", *line) for line in lines)
    filter = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(filter))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    no_new_privileges, seccomp, by_filter = 38, 22, 2
    one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
    if prctl(no_new_privileges, one, none, none, none) != 0 or prctl(seccomp, by_filter, header) != 0:
        raise OSError(ctypes.get_errno(), "the filter can't be set")


def reap_orphans():
    for pid, (parent, state) in processes().items():
        if parent == os.getpid() and state == "Z":
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def wait_until(condition, seconds=5.0, what="it"):
    deadline = time.monotonic() + seconds * SLOWDOWN
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    pytest.fail(f"{what} didn't happen within {seconds * SLOWDOWN:g} s")


# ------------------------------------------------------------------------------------------------ one run


class Run:
    def __init__(self, arguments, status, stdout, stderr, seconds):
        self.arguments = arguments
        self.status = status
        self.stdout_bytes = stdout
        self.stderr_bytes = stderr
        self.stdout = stdout.decode("utf-8", errors="replace")
        self.stderr = stderr.decode("utf-8", errors="replace")
        self.seconds = seconds

    @property
    def json(self):
        try:
            return json.loads(self.stdout)
        except ValueError as error:
            pytest.fail(f"stdout is not one JSON value ({error}):\n{self}")

    def __repr__(self):
        return (
            f"subako {' '.join(map(str, self.arguments))}\nstatus {self.status} after {self.seconds:.2f} s\n"
            f"--- stdout\n{self.stdout[:4000]}\n--- stderr\n{self.stderr[-4000:]}"
        )


@pytest.fixture
def scratch(tmp_path):
    """The run's $TMPDIR."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(scratch):
    keep = {
        name: os.environ[name]
        for name in (
            "PATH",
            "HOME",
            "LANG",
            "XDG_CACHE_HOME",
            "SUBAKO_CACHE_DIR",
            "SUBAKO_SANDBOX",
            "ASAN_OPTIONS",
            "UBSAN_OPTIONS",
            "LSAN_OPTIONS",
        )
        if name in os.environ
    }
    return keep | {"TMPDIR": str(scratch)}


def run_subako(*arguments, input=b"", timeout=60, env=None, cwd=None, wrapper=()):
    if isinstance(input, str):
        input = input.encode()
    began = time.monotonic()
    process = subprocess.Popen(
        [*wrapper, str(SUBAKO), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        cwd=cwd,
    )
    try:
        stdout, stderr = process.communicate(input, timeout=timeout * SLOWDOWN)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        stdout, stderr = process.communicate()
        run = Run(arguments, "killed", stdout, stderr, time.monotonic() - began)
        pytest.fail(f"not done after {timeout * SLOWDOWN:g} s:\n{run}")
    return Run(arguments, process.returncode, stdout, stderr, time.monotonic() - began)


@pytest.fixture
def subako(environment):
    def run(*arguments, env=None, **others):
        return run_subako(*arguments, env=environment | (env or {}), **others)

    return run


@pytest.fixture
def start(environment):
    """Starts subako and leaves it running; killed at the end of the test where it still is."""
    started = []

    def run(*arguments, env=None, **others):
        others = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | others
        process = subprocess.Popen(
            [str(SUBAKO), *map(str, arguments)], env=environment | (env or {}), **others
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture(autouse=True)
def leaves_nothing_behind(request, scratch, tmp_path):
    yield
    try:
        look_for_leftovers(request, scratch)
    finally:
        shutil.rmtree(tmp_path)  # some bundles are large, and pytest would keep them


def look_for_leftovers(request, scratch):
    wait_until(lambda: not children_of_subako(), 2, "the end of every child process")
    reap_orphans()
    if request.node.get_closest_marker("leaves_scratch"):
        return
    left = sorted(str(path.relative_to(scratch)) for path in scratch.rglob("*"))
    assert left == [], f"left behind in $TMPDIR: {left}"


# ------------------------------------------------------------------------------------------------ what is asked and answered


def guest(name):
    return GUESTS / name


def texts(outcome):
    """The texts of what the model gets, in order."""
    return [block.get("text") for block in outcome["view"]]


def plain(text):
    """Without differences of case, and of how thousands are written."""
    return re.sub(r"(?<=\d),(?=\d{3})", "", text.lower())


def refusals_matching(refusals, rules, *words):
    """The refusals of one of `rules` whose place, sentence or hint hold all the words."""
    rules = {rules} if isinstance(rules, str) else set(rules)
    return [
        refusal
        for refusal in refusals
        if refusal["rule"] in rules
        and all(
            plain(word) in plain(" ".join((refusal["where"], refusal["message"], refusal["hint"])))
            for word in words
        )
    ]


def assert_refused(run, rules, *words):
    """`subako check --json` refused the bundle by one of `rules`, and says the words; the shape holds."""
    report = run.json
    assert run.status == 3, run
    assert report["ok"] is False, run
    assert report["refusals"], run
    for refusal in report["refusals"]:
        assert set(refusal) == {"rule", "where", "message", "hint"}, run
        assert refusal["rule"] and refusal["message"].strip(), run
    assert refusals_matching(
        report["refusals"], rules, *words
    ), f"no refusal by {rules} that says {words}:\n{run}"
    return report


def assert_accepted(run):
    report = run.json
    assert run.status == 0, run
    assert report["ok"] is True, run
    assert not report.get("refusals"), run
    return report


@pytest.fixture
def skill(tmp_path):
    """The folder of a skill."""
    folder = tmp_path / "pdf-skill"
    folder.mkdir()
    (folder / "SKILL.md").write_text(
        "---\nname: pdf\ndescription: Reads PDFs.\n---\n\nHow to read a PDF.\n", encoding="utf-8"
    )
    return folder
