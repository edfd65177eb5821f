"""`subako call`: the outcome as JSON and for people, exit status, arguments, files."""

import json
import os
import shutil

import pytest

from conftest import guest, texts

KEYS = {
    "outcome",
    "result",
    "view",
    "crash",
    "cached",
    "timings_ms",
    "cpu_ms",
    "peak_memory_bytes",
    "written_bytes",
    "volume",
    "http",
}
CRASH_KEYS = {"cause", "message", "out_of_memory", "stderr_tail", "backtrace"}


def call(subako, package, tool, arguments="{}", *options, **others):
    return subako("call", "--json", *options, guest(package), tool, arguments, **others)


def answer(run):
    outcome = run.json
    assert outcome["outcome"] == "answered", run
    return outcome["result"]


def test_json_of_an_answer(subako):  # spec: C9, R1
    run = call(subako, "greet", "greet", '{"name":"Ada"}')
    assert run.status == 0
    outcome = run.json
    assert set(outcome) <= KEYS and set(outcome) >= KEYS - {"crash"}, run
    assert outcome["outcome"] == "answered" and not outcome.get("crash")
    assert outcome["result"] == {"content": [{"type": "text", "text": "Hello, Ada! Welcome to Subako."}]}
    assert texts(outcome) == ["Hello, Ada! Welcome to Subako."]
    assert outcome["http"] == [] and outcome["written_bytes"] == 0
    assert 64 * 1024 <= outcome["peak_memory_bytes"] <= 16 << 20
    assert outcome["cpu_ms"] >= 0
    assert all(isinstance(ms, (int, float)) and ms >= 0 for ms in outcome["timings_ms"].values()), run


def test_json_of_a_crash(subako):  # spec: C9
    run = call(subako, "hostile/c9_trap", "misbehave")
    assert run.status == 2
    outcome = run.json
    assert set(outcome) <= KEYS and outcome["outcome"] == "crashed" and not outcome.get("result"), run
    crash = outcome["crash"]
    assert set(crash) == CRASH_KEYS, run
    assert crash["cause"] == "trap" and crash["out_of_memory"] is False
    assert crash["stderr_tail"] == "about to trap\n"
    assert any("misbehave" in frame for frame in crash["backtrace"]), run
    model = "\n".join(texts(outcome))
    assert "crashed" in model and "about to trap" in model
    assert (
        "unreachable" not in model and "backtrace" not in model.lower()
    ), "the model is told no more than stderr"


def test_people_see_what_the_model_reads(subako):
    run = subako("call", guest("greet"), "greet", '{"name":"Ada"}')
    assert run.status == 0
    assert "Hello, Ada! Welcome to Subako." in run.stdout, run
    assert "\x1b" not in run.stdout + run.stderr, run


def test_people_see_the_cause_of_a_crash(subako):
    run = subako("call", guest("hostile/c9_trap"), "misbehave")
    assert run.status == 2
    assert "crashed" in run.stdout + run.stderr and "unreachable" in run.stdout + run.stderr, run
    assert "misbehave" in run.stdout + run.stderr, run


def test_tool_that_says_no(subako):
    run = call(subako, "greet", "greet", '{"name":""}')
    assert run.status == 1
    assert run.json["outcome"] == "answered" and run.json["result"]["isError"] is True
    people = subako("call", guest("greet"), "greet", '{"name":""}')
    assert people.status == 1 and "name must be a string" in people.stdout + people.stderr, people


def test_tool_that_is_not_listed_starts_no_guest(subako):  # spec: C11
    run = call(subako, "greet", "great")
    assert run.status == 3, run
    assert run.json["outcome"] == "refused", run
    people = subako("call", guest("greet"), "great")
    assert people.status == 3 and "great" in people.stderr and "greet" in people.stderr, people


def test_package_that_is_refused_is_not_called(subako):
    run = call(subako, "hostile/u3_name", "Say Hello")
    assert run.status == 3 and run.json["outcome"] == "refused", run


@pytest.mark.parametrize(
    "arguments, word",
    [  # spec: C10
        ("[1]", "object"),
        ('"text"', "object"),
        ("7", "object"),
        ("null", "object"),
        ("", "JSON"),
        ("{", "JSON"),
        ("{} {}", "JSON"),
        ('{"a":01}', "JSON"),
        ('{"a":1e400}', "number"),
        ('{"a":"\\ud800"}', "surrogate"),
        ('{"a":' + "[" * 130 + "]" * 130 + "}", "120"),
    ],
)
def test_arguments_that_are_refused(subako, arguments, word):
    run = call(subako, "files", "echo", arguments)
    assert run.status == 3, run
    assert word.lower() in (run.stdout + run.stderr).lower(), run


def test_arguments_over_1_mib_are_refused(subako, tmp_path):  # spec: C10
    file = tmp_path / "arguments.json"
    file.write_text(json.dumps({"a": "x" * (1 << 20)}))
    run = call(subako, "files", "echo", f"@{file}")
    assert run.status == 3 and "1 MiB" in run.stdout + run.stderr, run
    file.write_text(json.dumps({"a": "x" * ((1 << 20) - 10)}))
    # As long as may be; the answer, which echoes it, is then over L4.
    assert call(subako, "files", "echo", f"@{file}").json["crash"]["cause"] == "stdout_limit"


def test_argument_tokens_reach_the_guest_byte_for_byte(subako):  # spec: C10
    tokens = (
        r'{"b":9223372036854775808,"a":-0.0,"e":1E+2,"s":"\u00e4\/\ud83d\ude00é","b":[1.50,true,null,{}]}'
    )
    spaced = tokens.replace(",", " ,\n\t").replace(":", " : ")
    for given in (tokens, spaced):
        run = call(subako, "files", "echo", given)
        assert run.status == 0, run
        assert tokens in run.stdout, run


@pytest.mark.parametrize("how", ["argument", "file", "stdin", "none"])
def test_ways_to_give_arguments(subako, tmp_path, how):
    file = tmp_path / "arguments.json"
    file.write_text('{"from":"a file"}\n')
    given = {"argument": ['{"from":"the command line"}'], "file": [f"@{file}"], "stdin": ["-"], "none": []}[
        how
    ]
    run = subako("call", "--json", guest("files"), "echo", *given, input='{"from":"stdin"}\n')
    expected = {
        "argument": {"from": "the command line"},
        "file": {"from": "a file"},
        "stdin": {"from": "stdin"},
        "none": {},
    }[how]
    assert answer(run)["structuredContent"] == expected


def test_argument_file_that_is_not_there(subako, tmp_path):
    run = call(subako, "files", "echo", f"@{tmp_path}/nowhere.json")
    assert run.status == 3 and "nowhere.json" in run.stdout + run.stderr, run


def test_argv_is_the_package_name_alone(subako):  # spec: C2
    assert answer(call(subako, "files", "argv0"))["content"][0]["text"] == "files"


def test_volume_is_fresh_without_an_option_and_kept_with_one(subako, tmp_path):
    def note(*options):
        return answer(call(subako, "greet", "note", '{"text":"hi"}', *options))["content"][0]["text"]

    assert "has 3 bytes" in note() and "has 3 bytes" in note()
    volume = tmp_path / "volume"
    volume.mkdir()
    assert "has 3 bytes" in note("--volume", volume)
    assert "has 6 bytes" in note("--volume", volume)
    assert (volume / "tmp" / "notes.txt").read_text() == "hi\nhi\n"


def test_volume_that_is_not_there_yet_is_made(subako, tmp_path):
    answer(call(subako, "greet", "note", '{"text":"hi"}', "--volume", tmp_path / "new"))
    assert (tmp_path / "new" / "tmp" / "notes.txt").read_text() == "hi\n"


def test_written_bytes_are_counted(subako):  # spec: F4, P8
    run = call(subako, "files", "write", json.dumps({"path": "/volume/tmp/a", "text": "x" * 1000}))
    assert run.json["written_bytes"] == 1000, run


def test_what_the_volume_holds_is_counted(subako, tmp_path):  # spec: F5
    volume = tmp_path / "volume"
    write = lambda path, size: json.dumps({"path": f"/volume/{path}", "text": "x" * size})
    run = call(subako, "files", "write", write("tmp/a", 1000), "--data", "--volume", volume)
    assert run.json["volume"] == {"bytes": 1000, "entries": 1, "full": False}, run
    # A folder that was there before is counted first, whatever lies in it.
    (volume / "data" / "folder").mkdir()
    (volume / "data" / "folder" / "b").write_bytes(b"x" * 500)
    (volume / "data" / "c").hardlink_to(volume / "data" / "folder" / "b")
    (volume / "tmp" / "link").symlink_to("/etc")
    run = call(subako, "files", "write", write("data/folder/b", 20), "--data", "--volume", volume)
    assert run.json["volume"] == {"bytes": 1020, "entries": 5, "full": False}, run


def test_a_full_volume_is_told(subako, tmp_path):  # spec: F5
    large = tmp_path / "volume" / "tmp" / "large"
    large.parent.mkdir(parents=True)
    with open(large, "wb") as file:
        file.truncate(11 << 30)
    arguments = json.dumps({"path": "/volume/tmp/a", "text": "more"})
    run = call(subako, "files", "write", arguments, "--volume", tmp_path / "volume")
    assert run.json["volume"] == {"bytes": 11 << 30, "entries": 2, "full": True}, run
    run = subako("call", "--volume", tmp_path / "volume", guest("files"), "write", arguments)
    assert "note: the Volume was full: it may hold 10.0 GiB of files; delete something in it\n" in run.stderr, run


def test_a_volume_that_cannot_be_counted_is_one_sentence(subako, tmp_path):  # spec: F5
    deep = tmp_path / "volume" / "tmp" / "locked"
    deep.mkdir(parents=True)
    deep.chmod(0)
    run = call(subako, "files", "list", '{"path":"/volume/tmp"}', "--volume", tmp_path / "volume")
    deep.chmod(0o700)
    if os.geteuid() == 0:  # whom nothing is locked to
        assert run.json["volume"] == {"bytes": 0, "entries": 1, "full": False}, run
    else:
        assert run.status == 3 and "counting the Volume: a folder in it cannot be read: Permission denied" in run.stderr, run


def test_data_is_there_only_where_enabled(subako, tmp_path):  # spec: F1
    write = '{"path":"/volume/data/a.txt","text":"kept"}'
    assert call(subako, "files", "write", write).status == 1
    volume = tmp_path / "volume"
    assert (
        answer(call(subako, "files", "write", write, "--data", "--volume", volume))["content"][0]["text"]
        == "4 bytes"
    )
    read = call(subako, "files", "read", '{"path":"/volume/data/a.txt"}', "--data", "--volume", volume)
    assert answer(read)["content"][0]["text"] == "kept"
    assert (volume / "data" / "a.txt").read_text() == "kept"


def test_a_volume_with_data_shares_its_folder_with_nothing(subako, tmp_path):
    # Whoever takes a worker over reaches the folder around tmp and data.
    volume = tmp_path / "volume"
    volume.mkdir()
    (volume / "secret").write_text("x")
    arguments = '{"path":"/volume/tmp/a","text":"more"}'
    run = subako("call", "--data", "--volume", volume, guest("files"), "write", arguments)
    assert run.status == 3 and 'holds "secret" beside tmp and data' in run.stderr, run
    assert not (volume / "tmp").exists()
    assert call(subako, "files", "write", arguments, "--volume", volume).status == 0
    (volume / "secret").unlink()
    assert call(subako, "files", "write", arguments, "--data", "--volume", volume).status == 0


def test_skills_are_mounted_by_name_and_read_only(subako, skill):  # spec: F1, F2
    options = ("--skill", f"pdf={skill}", "--skill", f"word={skill}")
    assert answer(call(subako, "files", "list", '{"path":"/skills"}'))["content"][0]["text"] == ""
    assert (
        answer(call(subako, "files", "list", '{"path":"/skills"}', *options))["content"][0]["text"]
        == "pdf\nword\n"
    )
    text = answer(call(subako, "files", "read", '{"path":"/skills/word/SKILL.md"}', *options))["content"][0][
        "text"
    ]
    assert text.startswith("---\nname: pdf\n")
    run = call(subako, "files", "write", '{"path":"/skills/pdf/SKILL.md","text":"gone"}', *options)
    assert run.status == 1 and (skill / "SKILL.md").read_text().startswith("---"), run


@pytest.mark.parametrize(
    "given, word", [("pdf", "NAME=DIR"), ("pdf=/nowhere/at/all", "/nowhere/at/all"), ("=x", "NAME=DIR")]
)
def test_skill_that_cannot_be_mounted(subako, given, word):
    run = subako("call", "--skill", given, guest("greet"), "greet", '{"name":"Ada"}')
    assert run.status == 3 and word in run.stderr, run


def test_package_assets_are_there_and_read_only(subako, tmp_path):  # spec: F1, F2
    run = call(subako, "files", "read", '{"path":"/package/x"}')
    assert run.status == 1, "this package has no assets, and so no /package"
    package = shutil.copytree(guest("files"), tmp_path / "package")
    (package / "assets").mkdir()
    (package / "assets" / "x").write_text("an asset")

    def ask(tool, arguments):
        return subako("call", "--json", package, tool, arguments)

    assert answer(ask("read", '{"path":"/package/x"}'))["content"][0]["text"] == "an asset"
    for path in ("/package/x", "/package/new"):
        run = ask("write", json.dumps({"path": path, "text": "gone"}))
        assert run.status == 1 and "not permitted" in run.json["view"][0]["text"].lower(), run
    assert (package / "assets" / "x").read_text() == "an asset"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/volume/tmp/../../etc/passwd", "/package/../../etc/passwd", "/volume/secret"]
)
def test_no_path_leaves_its_tree(subako, path):  # spec: F2
    run = call(subako, "files", "read", json.dumps({"path": path}))
    assert run.status == 1 and "root:" not in run.stdout, run


def test_timeout_ends_a_call(subako):  # spec: L1
    run = call(subako, "hold", "hold", "{}", "--timeout", "300ms")
    assert run.status == 2
    assert run.json["crash"]["cause"] == "timeout" and "300 ms" in run.json["crash"]["message"], run


@pytest.mark.parametrize("given", ["0", "-1s", "301s", "soon", "", "1h"])
def test_timeouts_that_are_refused(subako, given):  # spec: L1
    run = call(subako, "hold", "answer", "{}", f"--timeout={given}")
    assert run.status == 3 and "timeout" in (run.stderr + run.stdout).lower(), run


def test_blocks_of_a_result_become_lines_and_notes(subako):  # spec: R2, R3
    outcome = call(subako, "hostile/r2_broken_blocks", "misbehave").json
    view = texts(outcome)
    assert view[0] == "first" and view[-1] == "last" and len(view) == 8, view
    assert "hologram" in view[2]
    assert "report.pdf" in view[5] and "passwd" in view[6]
    assert all(isinstance(text, str) and "\n" not in text for text in view[1:7]), view
