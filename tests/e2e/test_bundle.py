"""Bundles of every form, and every way in which one is refused (spec: B)."""

import gzip
import io
import json
import os
import pathlib
import shutil
import socket
import tarfile
import zipfile

import pytest
from conftest import assert_accepted, assert_refused, guest


@pytest.fixture(scope="module")
def good():
    """The sample package as {path: bytes}."""
    folder = guest("greet")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def with_manifest(good, **changes):
    manifest = json.loads(good["subako-package.json"])
    for name, value in changes.items():
        manifest.pop(name, None)
        if value is not None:
            manifest[name] = value
    return good | {"subako-package.json": json.dumps(manifest).encode()}


def tar_entry(name, data=b"", **attributes):
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    for attribute, value in attributes.items():
        setattr(entry, attribute, value)
    return entry, data


def write_tar(path, entries, mode="w:gz", format=tarfile.PAX_FORMAT):
    with tarfile.open(path, mode, format=format) as tar:
        for entry, data in entries:
            tar.addfile(entry, io.BytesIO(data))
    return path


def tar_of(path, files, *more, **options):
    return write_tar(path, [tar_entry(name, data) for name, data in files.items()] + list(more), **options)


def zip_of(path, files, *more):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in list(files.items()) + list(more):
            archive.writestr(name, data)
    return path


def folder_of(path, files):
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def check(subako, bundle, **others):
    return subako("check", "--json", bundle, **others)


# ------------------------------------------------------------------------------------------------ what is fine


@pytest.mark.parametrize("form", ["folder", "tar.gz", "tgz", "tar", "zip", "other name", "stored zip"])
def test_every_form_of_bundle(subako, tmp_path, good, form):  # spec: B1
    path = tmp_path / {"other name": "bundle", "stored zip": "bundle.zip"}.get(form, f"bundle.{form}")
    if form == "folder":
        folder_of(path, good)
    elif form == "zip":
        zip_of(path, good)
    elif form == "stored zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name, data in good.items():
                archive.writestr(name, data)
    else:
        tar_of(path, good, mode="w" if form == "tar" else "w:gz")
    assert assert_accepted(check(subako, path))["package"]["name"] == "greet"
    run = subako("call", path, "greet", '{"name":"Ada"}')
    assert run.status == 0 and "Hello, Ada!" in run.stdout, run


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_tar_as_tools_write_it(subako, tmp_path, good, format):  # spec: B3
    entries = [tar_entry("./", type=tarfile.DIRTYPE), tar_entry("./assets/", type=tarfile.DIRTYPE)]
    entries += [
        tar_entry("./" + name, data, mtime=1.5 if format == tarfile.PAX_FORMAT else 1)
        for name, data in good.items()
    ]
    if format != tarfile.USTAR_FORMAT:
        entries.append(
            tar_entry("./assets/" + "長い名前" * 20 + ".txt", b"x")
        )  # past the 100 bytes of the old header
    assert_accepted(check(subako, write_tar(tmp_path / "a.tar.gz", entries, format=format)))


def test_zip_with_folders_as_entries(subako, tmp_path, good):  # spec: B3
    path = zip_of(
        tmp_path / "a.zip", good, ("assets/", b""), ("assets/deep/", b""), ("assets/日本.txt", b"x")
    )
    assert_accepted(check(subako, path))


@pytest.mark.parametrize(
    "name", [".DS_Store", "._module.wasm", "assets/.DS_Store", "assets/._a", "__MACOSX/._module.wasm"]
)
@pytest.mark.parametrize("form", ["folder", "tar", "zip"])
def test_what_macs_leave_is_skipped_with_a_warning(subako, tmp_path, good, name, form):  # spec: B3
    files = good | {name: b"junk"}
    path = {"folder": folder_of, "tar": tar_of, "zip": zip_of}[form](tmp_path / "bundle", files)
    warnings = assert_accepted(check(subako, path))["warnings"]
    assert any(
        name.split("/")[-1] in warning["where"] + warning["message"] or name.split("/")[0] in warning["where"]
        for warning in warnings
    ), warnings


def test_package_without_assets(subako, tmp_path, good):  # spec: B1
    without = {name: data for name, data in good.items() if not name.startswith("assets/")}
    assert_accepted(check(subako, tar_of(tmp_path / "a.tgz", without)))


# ------------------------------------------------------------------------------------------------ refusals


LONG_PATH = "assets/" + "/".join(["d" * 100] * 11)  # 1,117 bytes
TAR_REFUSALS = {  # name: (entries beside the good ones, rules, words)
    "an absolute path": ([tar_entry("/etc/passwd", b"x")], "B3", ["/etc/passwd"]),
    "a path upwards": ([tar_entry("assets/../../x", b"x")], "B3", [".."]),
    "a path upwards at its start": ([tar_entry("../x", b"x")], "B3", [".."]),
    "a symlink": (
        [tar_entry("assets/l", type=tarfile.SYMTYPE, linkname="/etc/passwd")],
        "B3",
        ["assets/l", "link"],
    ),
    "a symlink within": (
        [tar_entry("assets/l", type=tarfile.SYMTYPE, linkname="greeting.txt")],
        "B3",
        ["assets/l", "link"],
    ),
    "a hard link": (
        [tar_entry("assets/h", type=tarfile.LNKTYPE, linkname="module.wasm")],
        "B3",
        ["assets/h", "link"],
    ),
    "a device": (
        [tar_entry("assets/null", type=tarfile.CHRTYPE, devmajor=1, devminor=3)],
        "B3",
        ["assets/null"],
    ),
    "a pipe": ([tar_entry("assets/pipe", type=tarfile.FIFOTYPE)], "B3", ["assets/pipe"]),
    "a duplicate": ([tar_entry("assets/greeting.txt", b"twice")], "B3", ["assets/greeting.txt"]),
    "a duplicate by ./": ([tar_entry("./assets/greeting.txt", b"twice")], "B3", ["assets/greeting.txt"]),
    "a second module": ([tar_entry("module.wasm", b"twice")], "B3", ["module.wasm"]),
    "a file where a folder is": ([tar_entry("assets/greeting.txt/x", b"x")], "B3", ["assets/greeting.txt"]),
    "a file elsewhere": ([tar_entry("README.md", b"x")], ("B1", "B3"), ["README.md"]),
    "a folder of files elsewhere": ([tar_entry("src/main.c", b"x")], ("B1", "B3"), ["src/main.c"]),
    "a long path": ([tar_entry(LONG_PATH, b"x")], "B3", ["1,024"]),
    "a long segment": ([tar_entry("assets/" + "s" * 256, b"x")], "B3", ["255"]),
}


@pytest.mark.parametrize("case", TAR_REFUSALS)
def test_entries_that_are_refused(subako, tmp_path, good, case):  # spec: B3
    entries, rules, words = TAR_REFUSALS[case]
    assert_refused(check(subako, tar_of(tmp_path / "a.tar.gz", good, *entries)), rules, *words)


@pytest.mark.parametrize(
    "name, word",
    [
        ("/etc/passwd", "/etc/passwd"),
        ("assets/../../x", ".."),
        ("README.md", "README.md"),
        ("assets/" + "s" * 256, "255"),
        ("assets\\..\\x", "assets"),
    ],
)
def test_zip_entries_that_are_refused(subako, tmp_path, good, name, word):  # spec: B3
    assert_refused(check(subako, zip_of(tmp_path / "a.zip", good, (name, b"x"))), ("B1", "B3"), word)


def test_symlink_in_a_zip(subako, tmp_path, good):  # spec: B3
    link = zipfile.ZipInfo("assets/link")
    link.create_system = 3
    link.external_attr = 0o120777 << 16
    path = zip_of(tmp_path / "a.zip", good)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    assert_refused(check(subako, path), "B3", "assets/link", "link")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_in_a_zip(subako, tmp_path, good):  # spec: B3
    path = zip_of(tmp_path / "a.zip", good, ("assets/greeting.txt", b"twice"))
    assert_refused(check(subako, path), "B3", "assets/greeting.txt")


def test_name_that_is_not_utf8(subako, tmp_path, good):  # spec: B3
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT, encoding="latin-1") as tar:
        for name, data in (good | {"assets/caf\xe9.txt": b"x"}).items():
            entry, data = tar_entry(name, data)
            tar.addfile(entry, io.BytesIO(data))
    assert_refused(check(subako, path), "B3", "UTF-8")
    folder = folder_of(tmp_path / "folder", good)
    (pathlib.Path(os.fsdecode(os.fsencode(folder) + b"/assets/caf\xe9.txt"))).write_bytes(b"x")
    assert_refused(check(subako, folder), "B3", "UTF-8")


@pytest.mark.parametrize("kind", ["symlink", "symlink to the module", "pipe", "socket"])
def test_folder_entries_that_are_refused(subako, tmp_path, good, kind, monkeypatch):  # spec: B3
    folder = folder_of(tmp_path / "folder", good)
    odd = folder / "assets" / "odd"
    if kind == "symlink":
        odd.symlink_to("/etc/passwd")
    elif kind == "pipe":
        os.mkfifo(odd)
    elif kind == "socket":
        monkeypatch.chdir(folder / "assets")  # the path of a socket is short
        socket.socket(socket.AF_UNIX).bind("odd")
    else:
        odd = folder / "module.wasm"
        odd.rename(tmp_path / "module.wasm")
        odd.symlink_to(tmp_path / "module.wasm")
    assert_refused(check(subako, folder, timeout=20), "B3", odd.name)


def test_stray_file_in_a_folder(subako, tmp_path, good):  # spec: B3
    assert_refused(
        check(subako, folder_of(tmp_path / "folder", good | {"Makefile": b"all:"})), ("B1", "B3"), "Makefile"
    )


@pytest.mark.parametrize("form", ["tar", "zip", "folder"])
def test_wrapping_folder_is_named(subako, tmp_path, good, form):  # spec: B3
    wrapped = {"my-package/" + name: data for name, data in good.items()}
    path = {"tar": tar_of, "zip": zip_of, "folder": folder_of}[form](tmp_path / "bundle", wrapped)
    assert_refused(check(subako, path), ("B1", "B3"), "my-package")


@pytest.mark.parametrize("gone", ["subako-package.json", "module.wasm"])
@pytest.mark.parametrize("form", ["tar", "zip", "folder"])
def test_missing_file(subako, tmp_path, good, gone, form):  # spec: B1
    files = {name: data for name, data in good.items() if name != gone}
    path = {"tar": tar_of, "zip": zip_of, "folder": folder_of}[form](tmp_path / "bundle", files)
    assert_refused(check(subako, path), ("B1", "B2"), gone)


def test_several_refusals_at_once(subako, tmp_path, good):  # spec: B3
    path = tar_of(
        tmp_path / "a.tgz",
        good,
        tar_entry("README.md", b"x"),
        tar_entry("assets/l", type=tarfile.SYMTYPE, linkname="x"),
    )
    assert_refused(check(subako, path), ("B1", "B3"), "README.md")
    assert_refused(check(subako, path), "B3", "assets/l")


@pytest.mark.parametrize(
    "changes, word",
    [  # spec: B2
        ({"abi": None}, "abi"),
        ({"abi": 2}, "abi"),
        ({"abi": "1"}, "abi"),
        ({"abi": True}, "abi"),
        ({"abi": None, "functions": []}, "0.2.0"),
        ({"name": None}, "name"),
        ({"name": ""}, "name"),
        ({"name": "n" * 65}, "name"),
        ({"name": "Greet"}, "name"),
        ({"name": 7}, "name"),
        ({"name": "a b"}, "name"),
        ({"description": "d" * 1025}, "1,024"),
        ({"description": 7}, "description"),
    ],
)
def test_manifests_that_are_refused(subako, tmp_path, good, changes, word):
    assert_refused(check(subako, tar_of(tmp_path / "a.tgz", with_manifest(good, **changes))), "B2", word)


@pytest.mark.parametrize(
    "changes",
    [{"name": "n" * 64}, {"name": "a-1_b"}, {"description": "é" * 1024}, {"description": None}, {"abi": 1.0}],
)
def test_manifests_that_are_fine(subako, tmp_path, good, changes):  # spec: B2
    assert_accepted(check(subako, tar_of(tmp_path / "a.tgz", with_manifest(good, **changes))))


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{", b"\xef\xbb\xbf{}", b"\xff", b"null", b'{"abi":1,"name":"a"} x', b"[" * 5000]
)
def test_manifest_that_is_no_json_object(subako, tmp_path, good, text):  # spec: B2
    assert_refused(
        check(subako, tar_of(tmp_path / "a.tgz", good | {"subako-package.json": text})),
        "B2",
        "subako-package.json",
    )


# ------------------------------------------------------------------------------------------------ sizes, damage, bombs


def test_64_mib_in_all_is_the_most(subako, tmp_path, good):  # spec: B1
    rest = (64 << 20) - sum(map(len, good.values()))
    assert_accepted(check(subako, tar_of(tmp_path / "most.tgz", good | {"assets/big": bytes(rest)})))
    assert_refused(
        check(subako, tar_of(tmp_path / "more.tgz", good | {"assets/big": bytes(rest + 1)})),
        ("B1", "B3"),
        "64 MiB",
    )


@pytest.mark.slow
def test_10_000_asset_files_are_the_most(subako, tmp_path, good):  # spec: B1
    assets = {f"assets/d{i % 100}/f{i}": b"" for i in range(10_000 - 1)}
    assert_accepted(check(subako, tar_of(tmp_path / "most.tgz", good | assets)))
    assert_refused(
        check(subako, tar_of(tmp_path / "more.tgz", good | assets | {"assets/one-more": b""})),
        ("B1", "B3"),
        "10,000",
    )


@pytest.mark.parametrize("form", ["tar.gz", "zip", "gzip in gzip", "endless gzip"])
def test_bombs_are_refused_while_unpacking(subako, tmp_path, good, form):  # spec: B3
    path = tmp_path / "bomb"
    size = 256 << 20
    if form == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in good.items():
                archive.writestr(name, data)
            with archive.open("assets/zeros", "w") as out:
                for _ in range(size >> 20):
                    out.write(bytes(1 << 20))
    elif form == "tar.gz":
        with gzip.open(path, "wb", compresslevel=1) as out:
            with tarfile.open(fileobj=out, mode="w|") as tar:
                entry, _ = tar_entry("assets/zeros")
                entry.size = size
                tar.addfile(entry, Zeros(size))
    elif form == "gzip in gzip":
        path.write_bytes(gzip.compress(gzip.compress(bytes(200 << 20), 9), 9))
    else:
        path.write_bytes(gzip.compress(bytes(1 << 20), 9) * 2000)  # 2 GiB of members, no tar within
    run = check(subako, path, timeout=30)
    assert_refused(run, ("B1", "B3"))
    assert run.seconds < 10, run


class Zeros(io.RawIOBase):
    def __init__(self, left):
        self.left = left

    def readable(self):
        return True

    def readinto(self, buffer):
        count = min(len(buffer), self.left)
        buffer[:count] = bytes(count)
        self.left -= count
        return count


@pytest.mark.parametrize("form", ["tar.gz", "tar", "zip"])
def test_archive_that_is_cut_off(subako, tmp_path, good, form):  # spec: B1
    path = tmp_path / f"a.{form}"
    zip_of(path, good) if form == "zip" else tar_of(path, good, mode="w" if form == "tar" else "w:gz")
    data = path.read_bytes()
    for share in (0.3, 0.9):
        path.write_bytes(data[: int(len(data) * share)])
        assert_refused(check(subako, path), ("B1", "B3"))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"\0" * 4096,
        b"\x1f\x8b",
        b"PK\x03\x04",
        b"PK\x05\x06" + bytes(18),
        bytes(range(256)) * 64,
        b"\x7fELF" + bytes(600),
        b"Rar!\x1a\x07\x00",
    ],
)
def test_file_that_is_no_archive(subako, tmp_path, data):  # spec: B1
    path = tmp_path / "a.tar.gz"
    path.write_bytes(data)
    assert_refused(check(subako, path), ("B1", "B3"))


def test_module_itself_is_no_bundle_and_the_author_is_told(subako, tmp_path):  # spec: B1
    path = tmp_path / "module.wasm"
    shutil.copy(guest("greet") / "module.wasm", path)
    assert_refused(check(subako, path), ("B1", "B3"))


def test_damaged_member_of_a_zip(subako, tmp_path, good):  # spec: B1
    path = zip_of(tmp_path / "a.zip", good)
    data = bytearray(path.read_bytes())
    data[data.index(b"module.wasm") + 2000] ^= 0xFF
    path.write_bytes(data)
    assert_refused(check(subako, path), ("B1", "B3"))


def test_tar_that_declares_a_huge_size(subako, tmp_path):  # spec: B3
    entry, _ = tar_entry("assets/huge")
    entry.size = (1 << 33) - 1
    path = tmp_path / "a.tar"
    path.write_bytes(entry.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    run = check(subako, path)
    assert_refused(run, ("B1", "B3"))
    assert run.seconds < 5


def test_bundle_that_may_not_be_read(subako, tmp_path, good):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path = tar_of(tmp_path / "a.tgz", good)
    path.chmod(0)
    run = subako("check", path)
    assert run.status == 3 and "ermission" in run.stderr, run


@pytest.mark.parametrize(
    "data, word",
    [  # spec: M1
        (b"\0asm\x0d\0\x01\0", "component"),
        (b"(module)", "text"),
        (b"\x7fELF" + bytes(100), "ELF"),
        (b"", "empty"),
        (b"\0asm\x02\0\0\0", "version"),
    ],
)
def test_module_that_is_no_core_module(subako, tmp_path, good, data, word):
    report = assert_refused(check(subako, tar_of(tmp_path / "a.tgz", good | {"module.wasm": data})), "M1")
    text = json.dumps(report["refusals"]).lower()
    assert word.lower() in text, report
