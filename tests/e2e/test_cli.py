"""The command line itself: help, versions, wrong words, completion, doctor."""

import errno
import re
import resource
import subprocess

import pytest
from conftest import SUBAKO, deny_calls, guest

COMMANDS = ["check", "call", "tools", "pack", "doctor", "completion"]


def one_sentence(run):
    lines = [line for line in run.stderr.splitlines() if line.strip()]
    assert 1 <= len(lines) <= 3, run
    assert "terminate" not in run.stderr and "what()" not in run.stderr and "Error{" not in run.stderr, run


def test_help_names_the_commands_and_the_exit_statuses(subako):
    run = subako("--help")
    assert run.status == 0 and run.stderr == "", run
    for word in COMMANDS[:5]:
        assert re.search(rf"\b{word}\b", run.stdout), run
    for status, word in (
        ("0", "answered"),
        ("1", "isError"),
        ("2", "crashed"),
        ("3", "refused"),
        ("4", "our"),
    ):
        assert re.search(rf"^\s*{status}\b.*{word}", run.stdout, re.M), f"{status} {word}\n{run}"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_version_of_each_command(subako, command):
    run = subako(command, "--help")
    assert run.status == 0 and command in run.stdout and run.stderr == "", run
    version = subako(command, "--version")
    assert version.status == 0 and version.stdout == subako("--version").stdout, version


def test_version(subako):
    run = subako("--version")
    assert run.status == 0 and re.fullmatch(r"subako \d+\.\d+\.\d+\S*( .*)?\n", run.stdout), run


def test_no_command_shows_what_there_is(subako):
    run = subako()
    assert run.status in (0, 3) and "check" in run.stdout + run.stderr, run


@pytest.mark.parametrize(
    "arguments",
    [
        ["chekc"],
        ["check"],
        ["call"],
        ["call", "x"],
        ["check", "--no-such-option", "x"],
        ["pack", "x"],
        ["check", "a", "b"],
        ["completion", "tcsh"],
        ["call", "a", "b", "{}", "c"],
    ],
)
def test_wrong_words_are_one_sentence(subako, arguments):
    run = subako(*arguments)
    assert run.status == 3, run
    one_sentence(run)
    assert run.stdout == "", run


def test_words_that_look_like_escapes_are_shown_escaped(subako):
    run = subako("check", "/nowhere/\x1b[31mred")
    assert run.status == 3 and "\x1b" not in run.stderr, run


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(subako, shell):
    run = subako("completion", shell)
    assert run.status == 0 and all(word in run.stdout for word in ("check", "call", "pack")), run
    if shell == "bash":
        check = subprocess.run(["bash", "-n"], input=run.stdout_bytes)
        assert check.returncode == 0
        script = (
            run.stdout + "\nCOMP_WORDS=(subako ch); COMP_CWORD=1; COMP_LINE='subako ch'; COMP_POINT=9\n"
            "$(complete -p subako | sed 's/.*-F \\([^ ]*\\) .*/\\1/') subako ch subako; echo \"${COMPREPLY[@]}\"\n"
        )
        done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True)
        assert done.stdout.split() == ["check"], done


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_option(subako, shell):
    script = subako("completion", shell).stdout
    for command in COMMANDS:
        assert command in script
        for option in re.findall(r"--([a-z-]+)", subako(command, "--help").stdout.split("Exit status")[0]):
            if option not in ("help", "version"):
                assert re.search(rf"(--|-l ){option}\b", script), f"{shell} lacks --{option} of {command}"


def test_doctor_says_what_this_machine_allows(subako):
    run = subako("doctor")
    assert run.status == 0, run
    for word in ("kernel", "openat2", "sandbox", "seccomp", "cpu", "cache", "memory for guests"):
        assert word in run.stdout.lower(), f"{word}\n{run}"


def test_colour_and_progress_only_on_a_terminal(subako):
    for arguments in (
        ["--help"],
        ["doctor"],
        ["check", guest("greet")],
        ["check", guest("hostile/u3_name")],
        ["tools", guest("greet")],
        ["call", guest("hostile/c9_trap"), "misbehave"],
        ["call", guest("greet"), "greet", '{"name":"Ada"}'],
    ):
        run = subako(*arguments)
        assert "\x1b" not in run.stdout + run.stderr, run


def test_full_disk_of_the_reader_is_a_fault_of_ours():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([SUBAKO, "--version"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 4 and done.stderr.strip(), done


def test_missing_child_is_said_plainly(tmp_path):
    alone = tmp_path / "subako"
    alone.symlink_to(SUBAKO)  # found through the link: works
    assert subprocess.run([alone, "check", guest("greet")], capture_output=True).returncode == 0
    alone.unlink()
    alone.write_bytes(SUBAKO.read_bytes())
    alone.chmod(0o755)
    done = subprocess.run([alone, "check", guest("greet")], capture_output=True, text=True)
    assert done.returncode == 4 and "subako-child" in done.stderr, done


def test_temporary_folder_that_is_not_there_is_said_plainly(subako, tmp_path):
    run = subako("call", guest("greet"), "greet", '{"name":"Ada"}', env={"TMPDIR": str(tmp_path / "nowhere")})
    assert run.status in (3, 4) and "nowhere" in run.stderr, run


@pytest.mark.parametrize("files", [8, 10, 12, 16, 24])
def test_few_descriptors_are_told_in_a_sentence(start, files):
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    process = start("call", guest("greet"), "greet", preexec_fn=few, text=True)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 4 and stdout == "", (stdout, stderr)
    assert stderr.startswith("subako: ") and "Too many open files" in stderr and "bug" not in stderr, stderr
    assert len(stderr.splitlines()) == 1, stderr


def deny_openat2(error):
    """As a container's seccomp profile that doesn't know openat2."""
    deny_calls(error, 437)


@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EPERM])
def test_without_openat2_no_guest_runs_and_a_sentence_says_why(start, error):  # spec: F2
    for arguments in (["call", guest("greet"), "greet", '{"name":"Ada"}'], ["check", guest("greet")]):
        process = start(*arguments, preexec_fn=lambda: deny_openat2(error), text=True)
        stdout, stderr = process.communicate(timeout=30)
        assert process.returncode == 4 and "Ada" not in stdout, (stdout, stderr)
        assert "openat2" in stdout + stderr and "allow openat2" in stdout + stderr, (stdout, stderr)
    process = start("doctor", preexec_fn=lambda: deny_openat2(error), text=True)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 4 and re.search(r"missing +openat2 ", stdout), (stdout, stderr)
