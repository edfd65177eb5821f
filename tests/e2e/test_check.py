"""`subako check`: what an author is told of a good package, and of a bad one."""

import json
import shutil

from conftest import SLOWDOWN, assert_accepted, assert_refused, guest


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


def module_with_a_function_of(locals, ifs):
    """Its merging of locals at each `if` takes the compiler quadratic time and memory."""

    def leb(number):
        out = b""
        while number >= 0x80:
            out += bytes([number & 0x7F | 0x80])
            number >>= 7
        return out + bytes([number])

    def section(kind, content):
        return bytes([kind]) + leb(len(content)) + content

    def function(locals, code):
        body = (leb(1) + leb(locals) + b"\x7f" if locals else b"\0") + code + b"\x0b"
        return leb(len(body)) + body

    set_another = b"".join(b"\x20\0\x04\x40\x20\0\x21" + leb(1 + i % locals) + b"\x0b" for i in range(ifs))
    return (
        b"\0asm\1\0\0\0"
        + section(1, b"\2\x60\0\0\x60\1\x7f\0")  # () -> () and (i32) -> ()
        + section(3, b"\2\0\1")
        + section(5, b"\1\0\1")
        + section(7, b"\2\6memory\2\0\6_start\0\0")
        + section(10, b"\2" + function(0, b"") + function(locals, set_another))
    )


def test_a_function_that_takes_too_much_to_compile(subako, tmp_path):  # spec: M6
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "subako-package.json").write_text('{"abi":1,"name":"p"}')
    module = tmp_path / "p" / "module.wasm"
    for ifs, rule, word in ((200, "C9", "exited"), (150_000, "M6", "2 GiB of memory")):
        module.write_bytes(module_with_a_function_of(2000, ifs))
        run = subako("check", "--json", tmp_path / "p", timeout=70)
        assert_refused(run, rule, "", word)
        assert run.seconds < 65 * SLOWDOWN, run
