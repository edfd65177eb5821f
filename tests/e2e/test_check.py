"""`subako check`: what an author is told of a good package, and of a bad one."""

import json
import shutil

from conftest import assert_accepted, assert_refused, guest


def test_json_of_an_accepted_package(subako):  # spec: B2, U5
    report = assert_accepted(subako("check", "--json", guest("greet")))
    assert set(report) == {"ok", "package", "cached", "tools", "warnings", "timings_ms", "refusals"}
    assert report["package"]["name"] == "greet"
    assert [tool["name"] for tool in report["tools"]] == ["greet", "note"]
    greet = report["tools"][0]
    assert greet["description"] == "Greets someone by name."
    assert greet["inputSchema"]["required"] == ["name"]
    assert report["warnings"] == [] and report["refusals"] == []
    assert report["timings_ms"] and all(
        isinstance(ms, (int, float)) and ms >= 0 for ms in report["timings_ms"].values()
    )


def test_table_for_people(subako):
    run = subako("check", guest("greet"))
    assert run.status == 0
    for word in ("greet", "note", "name", "text", "KiB", "ms"):
        assert word in run.stdout, run
    assert "\x1b" not in run.stdout + run.stderr, run


def test_refusal_for_people_says_rule_place_and_what_to_do(subako):  # spec: U4
    run = subako("check", guest("hostile/u3_many_faults"))
    assert run.status == 3, run
    for word in ("U3", "Bad Name", "no_schema", "number"):
        assert word in run.stdout + run.stderr, run
    assert "\x1b" not in run.stdout + run.stderr, run


def test_refusal_carries_the_stderr_of_the_check(subako):  # spec: U4
    run = subako("check", guest("hostile/u2_trap_at_start"))
    assert run.status == 3
    assert "no configuration" in run.stdout + run.stderr, run


def test_all_offending_imports_are_listed_with_what_they_should_be(subako):  # spec: M3
    report = assert_refused(subako("check", "--json", guest("hostile/m3_unknown_name")), "M3", "fd_teleport")
    assert_refused(subako("check", "--json", guest("hostile/m3_unknown_name")), "M3", "env")
    assert all(refusal["rule"] == "M3" for refusal in report["refusals"])


def test_unknown_manifest_member_is_a_warning(subako, tmp_path):  # spec: B2
    package = tmp_path / "package"
    shutil.copytree(guest("greet"), package)
    manifest = json.loads((package / "subako-package.json").read_text())
    (package / "subako-package.json").write_text(json.dumps(manifest | {"homepage": "https://example.com"}))
    report = assert_accepted(subako("check", "--json", package))
    assert any(
        warning["rule"] == "B2" and "homepage" in warning["where"] + warning["message"]
        for warning in report["warnings"]
    )


def test_tools_lists_what_a_package_offers(subako):
    run = subako("tools", guest("greet"))
    assert run.status == 0, run
    assert "greet" in run.stdout and "note" in run.stdout, run
    tools = subako("tools", "--json", guest("greet")).json
    tools = tools if isinstance(tools, list) else tools["tools"]
    assert [tool["name"] for tool in tools] == ["greet", "note"]


def test_tools_of_a_bad_package_is_a_refusal(subako):
    run = subako("tools", guest("hostile/m2_no_start"))
    assert run.status == 3, run
    assert "_start" in run.stdout + run.stderr, run


def test_bundle_that_is_not_there(subako, tmp_path):
    run = subako("check", tmp_path / "nowhere")
    assert run.status == 3, run
    assert "nowhere" in run.stderr and len(run.stderr.strip().splitlines()) <= 2, run
