"""Guests that others wrote, where they are there: in $SUBAKO_SHARED_GUESTS, or ../shared/guests beside this repository.

Each package is accepted; each recorded call ends as recorded; each hostile guest ends as its EXPECT.json says.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil

import pytest
from conftest import ROOT, SLOWDOWN, assert_accepted, assert_refused, run_subako

SHARED = pathlib.Path(os.environ.get("SUBAKO_SHARED_GUESTS") or ROOT.parent / "shared" / "guests")
THERE = (SHARED / "calls.json").is_file()
pytestmark = (
    []
    if THERE
    else [pytest.mark.skip(reason=f"NO SHARED GUESTS: {SHARED} is not there; set SUBAKO_SHARED_GUESTS")]
)


def load(name):
    return json.loads((SHARED / name).read_text(encoding="utf-8")) if THERE else {}


CALLS = load("calls.json") or []
HOSTILE = load("hostile/EXPECT.json")
UPLOADS = load("hostile-upload/EXPECT.json")
STATIC = {row["name"]: row for row in load("static/EXPECT.json")}
PACKAGES = (
    sorted(
        path.name
        for path in SHARED.iterdir()
        if (path / "module.wasm").is_file() and (path / "subako-package.json").is_file()
    )
    if THERE
    else []
)
RESULT_VARIES = {("c-kit", "about"), ("c-kit", "files"), ("go-kit", "probe"), ("rust-files", "exercise")}

CRASH = ("U2", "C6", "C8", "C9", "L4")  # a crash during the check is a refusal by the rule that it broke

# Why each is refused: the rules that may say so, and a word of the sentence.
STATIC_REASONS = {
    "memory-min-4gib": ("M5", "512 MiB"),
    "table-1g": ("M5", "1,000,000"),
    "no-start": ("M2", "_start"),
    "memory-other-name": ("M2", "memory"),
    "memory-imported": ("M3", "memory"),
    "start-with-result": ("M2", "_start"),
    "reactor": ("M2", "reactor"),
    "import-wasi-unstable": ("M3", "wasi_unstable"),
    "import-wasi-wrong-type": ("M3", "fd_close"),
    "import-wasi-threads": ("M3", "thread-spawn"),
    "import-http-unknown": ("M3", "delete"),
    "import-preview2": ("M3", "wasi:cli/environment"),
    "threads-shared-memory": ("M4", "thread"),
    "exceptions": ("M4", "exception"),
    "memory64": ("M4", "memory64"),
    "extended-const": ("M4", "const"),
    "start-loops": ("U1", "10 s"),
    "does-nothing": (CRASH, "answer"),
    "not-wasm": ("M1", ""),
    "component": ("M1", "component"),
    "version-2": ("M1", "version"),
    "function-references": ("M4", "reference"),
    "deep-blocks-200k": ((*CRASH, "M4", "M6"), ""),
}
UPLOAD_REASONS = {
    "discover-error": (CRASH, "error"),
    "discover-exit-3": (CRASH, "3"),
    "discover-no-tools": ("U2", "tools"),
    "discover-silent": ("U1", "10 s"),
    "eof-loop": (CRASH, "1 s"),
    "list-4mib": (CRASH, "1 MiB"),
    "list-65": ("U3", "64"),
    "list-desc-1025": ("U3", "1,025"),
    "list-empty": ("U3", "64"),
    "list-name-65": ("U3", "64"),
    "list-name-empty": ("U3", "name"),
    "list-name-upper": ("U3", "name"),
    "list-no-schema": ("U3", "inputSchema"),
    "list-output-big": ("U3", "65,536"),
    "list-schema-array": ("U3", "object"),
    "list-schema-invalid": ("U3", ""),
    "list-schema-type-list": ("U3", "object"),
    "list-total-257k": ("U3", "262,144"),
    "start-loop": ("U1", "10 s"),
    "start-trap": (CRASH, ""),
}
SLOW_CHECKS = {"discover-9s", "discover-silent", "start-loop", "start-sleep-5s", "eof-loop", "start-loops"}
VARIANTS = {  # what the reasons of EXPECT.json say of other arguments
    ("sleep", '{"ms":50}'): "ok",
    ("exit_after_answer", '{"code":3}'): "crash",
    ("late_exit", '{"ms":500}'): "ok",
    ("result_type", '{"type":"complete"}'): "ok",
}
CRASH_CAUSES = [
    ("Trap:", "trap"),
    ("proc_exit(", "exit_code"),
    ("exit with invalid exit status", "exit_code"),
    ("no message", "not_a_message"),
]
HOSTILE_CAUSES = [  # by the words of its `why`; result_and_error is no message by the letter of C6
    ("the same id twice", "unasked_id"),
    ("an id that was not asked", "unasked_id"),
    ("a stdout line that is no message", "not_a_message"),
    ("a JSON-RPC error", "jsonrpc_error"),
    ("resultType", "result_type"),
    ("request", "guest_request"),
    ("traps", "trap"),
    ("does not end within", "no_exit"),
    ("exit code", "exit_code"),
    ("ends before it answers", None),
]


def word_of(table, text):
    return next((cause for word, cause in table if word in text), None)


def without_meta(value):
    return (
        {name: member for name, member in value.items() if name != "_meta"}
        if isinstance(value, dict)
        else value
    )


@pytest.fixture(scope="module")
def slow_checks(tmp_path_factory):
    """The checks that take seconds, all at once: {name: run}."""

    def one(name):
        folder = tmp_path_factory.mktemp(name)
        package = SHARED / "static" / name if name in STATIC else assemble(name, folder / "package")
        (folder / "tmp").mkdir()
        environment = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "SUBAKO_CACHE_DIR", "SUBAKO_SANDBOX") if key in os.environ} | {
            "TMPDIR": str(folder / "tmp")
        }
        return run_subako("check", "--json", package, env=environment, timeout=60)

    names = sorted(SLOW_CHECKS & (STATIC.keys() | UPLOADS.keys()))
    with concurrent.futures.ThreadPoolExecutor(max(1, len(names))) as pool:
        return dict(zip(names, pool.map(one, names)))


def copy_writable(source, folder, **others):
    """Without the modes of where it lies, which may be for reading alone: not only root runs these."""
    shutil.copytree(source, folder, copy_function=shutil.copyfile, **others)
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    return folder


def assemble(mode, folder):
    copy_writable(SHARED / "hostile-upload" / mode, folder)
    shutil.copy(SHARED / "hostile-upload" / "module.wasm", folder / "module.wasm")
    return folder


def test_reasons_are_whole():
    assert {name for name, row in STATIC.items() if row["expect"] == "refuse"} == STATIC_REASONS.keys()
    assert {name for name, row in UPLOADS.items() if row["expect"] == "refuse"} == UPLOAD_REASONS.keys()


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """The package alone: the EXPECT.json that lies in its folder is no part of a bundle (B3)."""
    folder = tmp_path_factory.mktemp("hostile") / "package"
    return copy_writable(SHARED / "hostile", folder, ignore=shutil.ignore_patterns("EXPECT.json"))


@pytest.mark.parametrize("name", PACKAGES)
def test_package_is_accepted(subako, hostile, name):  # spec: M6, U
    assert_accepted(subako("check", "--json", hostile if name == "hostile" else SHARED / name))


@pytest.mark.parametrize(
    "index",
    range(len(CALLS)),
    ids=[f"{index}-{call['guest']}-{call['tool']}" for index, call in enumerate(CALLS)],
)
def test_recorded_call(subako, skill, index):
    expect = CALLS[index]
    run = subako(
        "call",
        "--json",
        "--data",
        "--skill",
        f"pdf={skill}",
        SHARED / expect["guest"],
        expect["tool"],
        "-",
        input=json.dumps(expect["arguments"], ensure_ascii=False),
    )
    outcome = run.json
    if expect["expect"] == "crash":
        assert outcome["outcome"] == "crashed" and run.status == 2, run
        assert outcome["crash"]["cause"] == word_of(CRASH_CAUSES, expect["cause"]), run
        return
    assert outcome["outcome"] == "answered", run
    assert run.status == (1 if expect["expect"] == "isError" else 0), run
    if "result" in expect and (expect["guest"], expect["tool"]) not in RESULT_VARIES:
        assert without_meta(outcome["result"]) == without_meta(expect["result"]), run


@pytest.mark.parametrize("name", [name for name in STATIC if name not in SLOW_CHECKS])
def test_static_module(subako, name):  # spec: M
    judge_check(subako("check", "--json", SHARED / "static" / name), STATIC[name], STATIC_REASONS.get(name))


@pytest.mark.parametrize("mode", [mode for mode in UPLOADS if mode not in SLOW_CHECKS])
def test_hostile_upload(subako, tmp_path, mode):  # spec: U
    judge_check(
        subako("check", "--json", assemble(mode, tmp_path / "package")),
        UPLOADS[mode],
        UPLOAD_REASONS.get(mode),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SLOW_CHECKS & (STATIC.keys() | UPLOADS.keys())))
def test_slow_check(slow_checks, name):  # spec: U1, C8
    judge_check(
        slow_checks[name],
        STATIC.get(name) or UPLOADS[name],
        STATIC_REASONS.get(name) or UPLOAD_REASONS.get(name),
    )
    assert slow_checks[name].seconds < 16 * SLOWDOWN


def judge_check(run, expect, reason):
    if expect["expect"] == "accept":
        assert_accepted(run)
    else:
        assert_refused(run, *reason)


@pytest.mark.parametrize("tool", HOSTILE)
def test_hostile_tool(subako, hostile, tool):  # spec: C9, L
    judge_hostile(subako, hostile, tool, "{}", HOSTILE[tool])


@pytest.mark.parametrize("tool, arguments", VARIANTS)
def test_hostile_tool_with_other_arguments(subako, hostile, tool, arguments):
    judge_hostile(subako, hostile, tool, arguments, {"expect": VARIANTS[tool, arguments], "why": ""})


def judge_hostile(subako, package, tool, arguments, expect):
    options = ["--timeout", "500ms"] if expect["expect"] == "timeout" else []
    run = subako("call", "--json", *options, package, tool, arguments, timeout=30)
    outcome = run.json
    if expect["expect"] == "ok":
        assert outcome["outcome"] == "answered" and run.status == 0, run
        return
    assert outcome["outcome"] == "crashed" and run.status == 2, run
    if expect["expect"] == "timeout":
        assert outcome["crash"]["cause"] == "timeout", run
        assert sum(value for name, value in outcome["timings_ms"].items() if name != "total") >= 450, run
        assert run.seconds < 5 * SLOWDOWN, run
    else:
        cause = "not_a_message" if tool == "result_and_error" else word_of(HOSTILE_CAUSES, expect["why"])
        assert cause is None or outcome["crash"]["cause"] == cause, run
