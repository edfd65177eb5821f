"""The project's own hostile guests, one way to misbehave each; guests/hostile/EXPECT.json says how each ends."""

import json

import pytest
from conftest import ROOT, SLOWDOWN, assert_accepted, assert_refused, guest, plain, texts

EXPECT = json.loads((ROOT / "guests" / "hostile" / "EXPECT.json").read_text(encoding="utf-8"))
CALLS = {name: expect for name, expect in EXPECT.items() if "outcome" in expect}
CHECKS = {name: expect for name, expect in EXPECT.items() if "outcome" not in expect}


def marked(table):
    return [
        pytest.param(name, marks=pytest.mark.slow) if expect.get("slow") else name
        for name, expect in table.items()
    ]


def test_every_guest_is_in_the_table():
    sources = {
        path.stem for pattern in ("*.c", "*.wat") for path in (ROOT / "guests" / "hostile").glob(pattern)
    }
    assert sources == set(EXPECT)


def test_every_cause_is_in_the_table():  # spec: C9
    assert {expect["cause"] for expect in CALLS.values() if "cause" in expect} == {
        "jsonrpc_error",
        "result_type",
        "not_a_message",
        "unasked_id",
        "guest_request",
        "no_answer",
        "exit_code",
        "no_exit",
        "trap",
        "timeout",
        "stdout_limit",
        "bad_result",
    }


@pytest.mark.parametrize("name", marked(CALLS))
def test_call(subako, name):  # spec: C9
    expect = CALLS[name]
    options = ["--timeout", expect["timeout"]] if "timeout" in expect else []
    run = subako("call", "--json", *options, guest("hostile") / name, "misbehave", timeout=30)
    outcome = run.json
    assert outcome["outcome"] == expect["outcome"], run
    assert run.status == (2 if expect["outcome"] == "crashed" else 0), run
    assert run.seconds < 10 * SLOWDOWN, run
    if "text" in expect:
        assert texts(outcome)[0] == expect["text"], run
    if expect["outcome"] != "crashed":
        return
    crash = outcome["crash"]
    assert crash["cause"] == expect["cause"], run
    assert crash["message"].strip() and "\n" not in crash["message"], run
    assert plain(expect.get("message", "")) in plain(crash["message"]), run
    assert crash["out_of_memory"] is expect.get("out_of_memory", False), run
    assert expect.get("stderr_tail", "") in crash["stderr_tail"], run
    assert len(crash["stderr_tail"].encode()) <= 4096, run
    assert expect.get("backtrace", "") in " ".join(crash["backtrace"]), run


@pytest.mark.parametrize("name", marked(CHECKS))
def test_check(subako, name):  # spec: U4, M
    expect = CHECKS[name]
    run = subako("check", "--json", guest("hostile") / name, timeout=40)
    if expect.get("accepted"):
        report = assert_accepted(run)
        assert expect.get("warning", "") in " ".join(warning["rule"] for warning in report["warnings"]), run
        return
    for rule, where, message in expect["refused"]:
        assert_refused(run, rule, where, message)
    assert len(run.json["refusals"]) >= len({tuple(row[:2]) for row in expect["refused"] if row[1]}), run


def test_stderr_tail_begins_at_a_character(subako):  # spec: C7, C9
    crash = subako("call", "--json", guest("hostile/c7_stderr_then_trap"), "misbehave").json["crash"]
    assert "\ufffd" not in crash["stderr_tail"]
    assert crash["stderr_tail"].endswith("あthe end")
    assert 4096 - 3 <= len(crash["stderr_tail"].encode()) <= 4096


def test_crash_after_a_refused_growth_is_explained(subako):  # spec: C9, L2
    run = subako("call", guest("hostile/l2_out_of_memory_trap"), "misbehave")
    assert (
        run.status == 2 and "memory" in run.stdout + run.stderr and "512 MiB" in run.stdout + run.stderr
    ), run
