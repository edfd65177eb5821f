"""The cache of compiled modules: what is kept is found again, and whatever is wrong with it is a miss with the right answer."""

import ctypes
import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import time

import pytest

from conftest import SLOWDOWN, SUBAKO, children_of_subako, guest, reap_orphans, wait_until


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def greet(subako, cache):
    """Calls greet with that cache; the answer is right. True: the module came from the cache."""

    def call(*options, env=None):
        run = subako(
            "call", "--json", *options, guest("greet"), "greet", '{"name":"Ada"}',
            env={"SUBAKO_CACHE_DIR": str(cache)} | (env or {}),
        )
        assert run.status == 0, run
        outcome = run.json
        assert outcome["result"]["content"][0]["text"] == "Hello, Ada! Welcome to Subako.", run
        call.run = run
        if outcome["cached"]:
            assert outcome["timings_ms"]["compile"] == 0 and outcome["timings_ms"]["validate"] == 0, run
        else:
            assert outcome["timings_ms"]["compile"] > 0, run
        return outcome["cached"]

    return call


def entries(cache):
    return sorted(path for path in cache.iterdir() if len(path.name) == 64)


def asides(cache):
    return [path for path in cache.iterdir() if path.name.startswith(".aside-")]


def rewrite(path, change):
    data = bytearray(path.read_bytes())
    change(data)
    path.chmod(0o600)
    path.write_bytes(data)
    path.chmod(0o400)


def test_second_call_is_a_hit(greet, cache):
    assert greet() is False
    assert len(entries(cache)) == 1
    assert greet() is True
    assert greet("--no-cache") is False
    assert greet() is True
    assert len(entries(cache)) == 1 and not asides(cache)
    assert cache.stat().st_mode & 0o777 == 0o700
    assert entries(cache)[0].stat().st_mode & 0o777 == 0o700


def test_check_and_tools_use_it_too(subako, cache):
    env = {"SUBAKO_CACHE_DIR": str(cache)}
    first = subako("check", "--json", guest("greet"), env=env)
    assert first.json["cached"] is False
    second = subako("check", "--json", guest("greet"), env=env)
    assert second.json["cached"] is True, second
    assert second.json["tools"] == first.json["tools"] and second.json["package"] == first.json["package"]
    assert "an earlier time" in subako("check", guest("greet"), env=env).stdout
    assert subako("check", "--no-cache", "--json", guest("greet"), env=env).json["cached"] is False
    assert subako("tools", guest("greet"), env=env).status == 0
    assert len(entries(cache)) == 1


def test_the_bundle_around_the_module_does_not_matter(subako, greet, cache, tmp_path):
    """The same module in another form, with other assets and another name is the same entry; its warnings are told still."""
    assert greet() is False
    package = tmp_path / "package"
    shutil.copytree(guest("greet"), package)
    manifest = json.loads((package / "subako-package.json").read_text())
    (package / "subako-package.json").write_text(json.dumps(manifest | {"name": "other", "extra": 1}))
    archive = tmp_path / "other.tar.gz"
    env = {"SUBAKO_CACHE_DIR": str(cache)}
    assert subako("pack", package, "-o", archive, env=env).status == 0
    for bundle in (package, archive):
        report = subako("check", "--json", bundle, env=env).json
        assert report["cached"] is True and report["package"]["name"] == "other"
        assert any("extra" in warning["where"] + warning["message"] for warning in report["warnings"])
    assert len(entries(cache)) == 1


@pytest.mark.parametrize("file", ["module", "checksum"])
def test_damage_of_any_kind_is_a_miss(greet, cache, file):
    greet()
    size = (entries(cache)[0] / file).stat().st_size

    def flip(at):
        def change(data):
            data[at] ^= 1

        return change

    def cut(length):
        def change(data):
            del data[length:]

        return change

    damages = [flip(0), flip(size // 2), flip(size - 1), cut(0), cut(1), cut(size // 2), cut(size - 1)]
    damages.append(lambda data: data.extend(b"\0"))
    damages.append(lambda data: data.__setitem__(slice(None), bytes(size)))
    for number, damage in enumerate(damages):
        rewrite(entries(cache)[0] / file, damage)
        assert greet() is False, f"damage {number} of {file}"
        assert greet.run.stderr == "", greet.run
        assert greet() is True, f"after damage {number} of {file}"
    (entries(cache)[0] / file).unlink()
    assert greet() is False
    assert greet() is True


def test_what_another_build_compiled_is_a_miss(greet, cache, tmp_path):
    """Its content is whole, and of another Wasmtime: the worker refuses to load it."""
    greet()
    entry = entries(cache)[0]
    other_version = (entry / "module").read_bytes().replace(b"48.0.8", b"47.9.9").replace(b"\x0248", b"\x0247")
    assert other_version != (entry / "module").read_bytes()
    forge(entry, other_version)
    assert greet() is False
    assert greet.run.stderr == "", greet.run
    assert greet() is True
    forge(entries(cache)[0], b"\x7fELF, but no module of ours")
    assert greet() is False
    assert greet() is True


def forge(entry, module):
    """An entry of these bytes, as whole as the cache would have made it."""
    old = (entry / "checksum").read_text().splitlines()
    (entry / "module").chmod(0o600)
    (entry / "module").write_bytes(module)
    (entry / "module").chmod(0o400)
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    xxh3 = library.XXH3_64bits(module, ctypes.c_size_t(len(module)))
    text = "\n".join([old[0], old[1], f"bytes {len(module)}", f"xxh3 {xxh3}"]) + "\n"
    (entry / "checksum").chmod(0o600)
    (entry / "checksum").write_text(text)
    (entry / "checksum").chmod(0o400)


def test_half_written_entries_are_misses(greet, cache):
    greet()
    whole = entries(cache)[0]
    # As a writer leaves it that was killed before the renaming: it is never looked at, and goes when it is old.
    aside = cache / ".aside-00112233445566aa"
    shutil.copytree(whole, aside)
    (aside / "checksum").unlink()
    shutil.rmtree(whole)
    assert greet() is False
    assert aside.exists(), "its writer might be alive"
    os.utime(aside, (time.time() - 3600, time.time() - 3600))
    shutil.rmtree(entries(cache)[0])
    assert greet() is False
    assert not aside.exists()
    # And as a crash of the machine may leave it: in place, with holes.
    rewrite(entries(cache)[0] / "module", lambda data: data.__setitem__(slice(4096, 8192), bytes(4096)))
    assert greet() is False
    assert greet() is True


def test_a_refused_module_is_refused_each_time_and_not_kept(subako, cache):  # spec: M3
    env = {"SUBAKO_CACHE_DIR": str(cache)}
    for _ in range(2):
        run = subako("check", "--json", guest("hostile/m3_unknown_name"), env=env)
        assert run.status == 3 and run.json["refusals"][0]["rule"] == "M3", run
    assert entries(cache) == []


def test_a_package_that_fails_its_check_fails_it_each_time(subako, cache):  # spec: U3
    """The module is kept, as it passed M; the upload check runs each time."""
    env = {"SUBAKO_CACHE_DIR": str(cache)}
    runs = [subako("check", "--json", guest("hostile/u3_name"), env=env) for _ in range(2)]
    assert [run.status for run in runs] == [3, 3]
    assert [run.json["cached"] for run in runs] == [False, True]
    assert runs[0].json["refusals"] == runs[1].json["refusals"] and runs[0].json["refusals"]


def test_two_calls_at_once_on_an_empty_cache(start, cache, greet):
    env = {"SUBAKO_CACHE_DIR": str(cache)}
    running = [start("call", guest("greet"), "greet", '{"name":"Ada"}', env=env) for _ in range(6)]
    for process in running:
        stdout, stderr = process.communicate(timeout=60 * SLOWDOWN)
        assert process.returncode == 0 and stdout == b"Hello, Ada! Welcome to Subako.\n" and stderr == b"", stderr
    assert len(entries(cache)) == 1 and not asides(cache)
    assert greet() is True


def test_an_unusable_folder_ends_no_call(subako, greet, tmp_path, cache):
    file = tmp_path / "file"
    file.write_text("x")
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    link = tmp_path / "link"
    link.symlink_to(cache)
    for path, word in ((file, "Not a directory"), (file / "under", "Not a directory"), (open_to_all, "others may write"),
                       (link, "symbolic link"), ("/proc/nowhere", "No such file")):
        env = {"SUBAKO_CACHE_DIR": str(path)}
        assert greet(env=env) is False
        lines = greet.run.stderr.splitlines()
        assert len(lines) == 1 and "not kept" in lines[0] and str(path) in lines[0] and word in lines[0], greet.run
        # That nothing can be made in /proc shows only to who tries, and root may write everywhere.
        told = subako("doctor", env=env).stdout
        assert word in told or (path == "/proc/nowhere" and ("not there yet" in told or "Permission denied" in told)), told
        assert greet("--no-cache", env=env) is False and greet.run.stderr == "", greet.run
    # Off, and a home that can't have one: nothing to say.
    assert greet(env={"SUBAKO_CACHE_DIR": ""}) is False and greet.run.stderr == ""
    assert entries(cache) == []


def test_a_home_without_a_cache_is_no_news(environment, tmp_path):
    """Where nobody has named a folder, that none can be made is not told with every call."""
    home = {name: value for name, value in environment.items() if name not in ("SUBAKO_CACHE_DIR", "XDG_CACHE_HOME")}
    file = tmp_path / "file"
    file.write_text("x")
    folder = tmp_path / "home"
    folder.mkdir()
    for value, cached in ((None, [False, False]), (file, [False, False]), (folder, [False, True])):
        env = {name: text for name, text in home.items() if name != "HOME"} | ({"HOME": str(value)} if value else {})
        for expected in cached:
            run = subprocess.run([SUBAKO, "call", "--json", guest("greet"), "greet", '{"name":"Ada"}'], env=env, capture_output=True)
            assert run.returncode == 0 and run.stderr == b"", run
            assert json.loads(run.stdout)["cached"] is expected, value
    assert len(entries(folder / ".cache/subako/modules")) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_to_is_read(greet, cache):
    greet()
    cache.chmod(0o500)
    try:
        assert greet() is True
    finally:
        cache.chmod(0o700)


def test_doctor_tells_of_it(subako, cache, greet):
    greet()
    line = next(line for line in subako("doctor", env={"SUBAKO_CACHE_DIR": str(cache)}).stdout.splitlines() if "module cache" in line)
    assert str(cache) in line and "in 1 module" in line and line.startswith("ok"), line
    assert "off" in subako("doctor", env={"SUBAKO_CACHE_DIR": ""}).stdout


def test_doctor_makes_nothing(subako, tmp_path):
    folder = tmp_path / "none" / "yet"
    line = next(line for line in subako("doctor", env={"SUBAKO_CACHE_DIR": str(folder)}).stdout.splitlines() if "module cache" in line)
    assert line.startswith("ok") and "not there yet" in line, line
    assert not (tmp_path / "none").exists()


@pytest.mark.leaves_scratch
@pytest.mark.slow
def test_kill_at_any_moment_never_leaves_a_wrong_entry(start, greet, cache):
    """kill -9 of subako itself: while it unpacks, compiles, writes the entry, renames it."""
    random.seed(5)
    usual = []
    for _ in range(3):
        shutil.rmtree(cache)
        cache.mkdir(mode=0o700)
        began = time.monotonic()
        greet()
        usual.append(time.monotonic() - began)
    for _ in range(40):
        for entry in entries(cache):
            shutil.rmtree(entry)
        process = start("call", guest("greet"), "greet", '{"name":"Ada"}', env={"SUBAKO_CACHE_DIR": str(cache)})
        time.sleep(random.uniform(0, min(usual)))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        wait_until(lambda: not children_of_subako(), 2, "the end of every child process")
        reap_orphans()
        kept = len(entries(cache)) == 1
        assert greet() is kept
        assert greet() is True
    for aside in asides(cache):
        os.utime(aside, (time.time() - 3600, time.time() - 3600))
    shutil.rmtree(entries(cache)[0])
    greet()
    assert not asides(cache)


@pytest.mark.leaves_scratch
def test_kill_while_the_entry_is_written(start, greet, cache):
    """Stopped by a lock that somebody else holds, right before the renaming."""
    (cache / ".lock").touch(mode=0o600)
    with open(cache / ".lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = start("call", guest("greet"), "greet", '{"name":"Ada"}', env={"SUBAKO_CACHE_DIR": str(cache)})
        wait_until(lambda: asides(cache) and (asides(cache)[0] / "checksum").exists(), 10, "the writing of the entry")
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert len(asides(cache)) == 1 and not entries(cache)
    assert greet() is False
    assert greet() is True


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a mount namespace and keep its user")
def test_a_kept_module_that_cannot_be_handed_to_a_worker_is_told(subako, tmp_path):
    # A file of another mount namespace: no mount can be made of it.
    (tmp_path / "modules").mkdir(mode=0o700)
    outside = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    inside = ["sh", "-c", f'exec unshare -m "$@" 7< /proc/{os.getpid()}/fd/{outside}', "sh"]
    env = {"SUBAKO_CACHE_DIR": "/proc/self/fd/7/modules", "SUBAKO_SANDBOX": "namespaces"}
    for expected in (False, True):
        run = subako("check", guest("greet"), wrapper=inside, env=env)
        assert run.status == 0 and ("compiled anew" in run.stdout + run.stderr) == expected, run
    os.close(outside)
