"""What keeps tools in, as the command line chooses and tells it."""

import errno
import json
import os
import subprocess

import pytest
from conftest import deny_calls, guest

UNSHARE, OPEN_TREE, LANDLOCK = 272, 428, 444
CALL = ["call", guest("greet"), "greet", '{"name":"Ada"}']


def tier_of(doctor):
    """What `subako doctor --json` says of the sandbox."""
    return next(finding for finding in json.loads(doctor)["findings"] if finding["name"] == "sandbox")


@pytest.mark.parametrize("how", ["auto", "landlock", "none"])
def test_a_tier_can_be_chosen(subako, tmp_path, how):
    for arguments, env in ((["--sandbox", how], {}), ([], {"SUBAKO_SANDBOX": how})):
        run = subako(*CALL, *arguments, env=env)
        assert run.status == 0 and "Ada" in run.stdout, run
    volume = tmp_path / "volume"
    arguments = json.dumps({"path": "/volume/tmp/a", "text": "of this tier"})
    run = subako("call", guest("files"), "write", arguments, "--sandbox", how, "--volume", volume, "--data")
    assert run.status == 0, run
    assert (volume / "tmp" / "a").read_text() == "of this tier"
    assert (volume / "tmp" / "a").stat().st_uid == os.geteuid(), "the Volume's files are its owner's"


def test_a_skill_and_assets_are_read_in_each_tier(subako, skill):
    for how in ("auto", "landlock", "none"):
        run = subako(
            "call", guest("files"), "read", '{"path":"/skills/pdf/SKILL.md"}', "--skill", f"pdf={skill}", "--sandbox", how
        )
        assert run.status == 0 and "Reads PDFs" in run.stdout, run


def test_the_second_tier_is_taken_where_only_a_child_finds_that_the_first_does_not_work(subako):
    # Namespaces are there but for one, which children alone make.
    script = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$0" "$@"'
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script]
    if subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
        pytest.skip("this user can make no user namespace")
    run = subako(*CALL, "--sandbox", "auto", wrapper=inside)
    assert run.status == 0 and "Ada" in run.stdout and run.stderr == "", run
    run = subako(*CALL, "--sandbox", "namespaces", wrapper=inside)
    assert run.status == 4 and "making namespaces" in run.stderr, run
    doctor = tier_of(subako("doctor", "--json", "--sandbox", "auto", wrapper=inside).stdout)
    assert doctor["found"] == "landlock" and "making namespaces" in doctor["meaning"], doctor


def test_a_wrong_name_is_told(subako):
    for arguments, env in ((["--sandbox", "good"], {}), ([], {"SUBAKO_SANDBOX": "good"})):
        run = subako(*CALL, *arguments, env=env)
        assert run.status == 3 and "namespaces" in run.stderr and "good" in run.stderr, run


def test_pack_has_it_too(subako, tmp_path):
    for how in ("auto", "landlock", "none"):
        run = subako("pack", guest("greet"), "-o", tmp_path / "greet.tgz", "--sandbox", how)
        assert run.status == 0, run


def test_doctor_tells_the_tier_and_what_it_lacks(subako):
    best = tier_of(subako("doctor", "--json", "--sandbox", "auto").stdout)
    assert best["found"].split(",")[0] in ("namespaces", "landlock"), best
    second = tier_of(subako("doctor", "--json", "--sandbox", "landlock").stdout)
    assert second["found"] == "landlock" and second["state"] == "warn", second
    none = tier_of(subako("doctor", "--json", "--sandbox", "none").stdout)
    assert none["found"] == "none" and none["state"] == "warn", none


@pytest.mark.parametrize("call", [UNSHARE, OPEN_TREE])
def test_landlock_where_namespaces_are_forbidden(start, call):
    forbid = lambda: deny_calls(errno.EPERM, call)
    stdout, stderr = start(*CALL, "--sandbox", "auto", preexec_fn=forbid, text=True).communicate(timeout=30)
    assert "Ada" in stdout and stderr == "", (stdout, stderr)
    stdout, _ = start("doctor", "--json", "--sandbox", "auto", preexec_fn=forbid, text=True).communicate(timeout=30)
    found = tier_of(stdout)
    assert found["found"] == "landlock" and "namespaces" in found["meaning"], found


def test_nothing_runs_without_a_sandbox_unless_it_is_asked_for(start):
    forbid = lambda: deny_calls(errno.EPERM, UNSHARE, LANDLOCK)
    process = start(*CALL, "--sandbox", "auto", preexec_fn=forbid, text=True)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 4 and "Ada" not in stdout, (stdout, stderr)
    for word in ("namespaces", "Landlock", "--sandbox none"):
        assert word in stderr, stderr
    assert len(stderr.splitlines()) == 1, stderr
    process = start("doctor", "--sandbox", "auto", preexec_fn=forbid, text=True)
    process.communicate(timeout=30)
    assert process.returncode == 4
    stdout, stderr = start(*CALL, "--sandbox", "none", preexec_fn=forbid, text=True).communicate(timeout=30)
    assert "Ada" in stdout, (stdout, stderr)
