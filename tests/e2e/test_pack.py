"""`subako pack`: a bundle of reproducible bytes."""

import os
import shutil
import stat
import tarfile

from conftest import assert_accepted, guest


def test_packed_bundle_is_accepted_and_holds_the_same_files(subako, tmp_path):  # spec: B1
    out = tmp_path / "greet.tar.gz"
    run = subako("pack", guest("greet"), "-o", out)
    assert run.status == 0, run
    assert assert_accepted(subako("check", "--json", out))["package"]["name"] == "greet"
    with tarfile.open(out) as tar:
        for path in ("subako-package.json", "module.wasm", "assets/greeting.txt"):
            member = [entry for entry in tar if entry.name.removeprefix("./") == path]
            assert (
                len(member) == 1 and tar.extractfile(member[0]).read() == (guest("greet") / path).read_bytes()
            )


def test_same_files_give_the_same_bytes(subako, tmp_path):  # spec: B4
    assert subako("pack", guest("greet"), "-o", tmp_path / "a.tar.gz").status == 0
    copy = tmp_path / "elsewhere" / "copy"
    copy.mkdir(parents=True)
    # Another order of creation, other times and modes.
    (copy / "assets").mkdir()
    for path in ("assets/greeting.txt", "module.wasm", "subako-package.json"):
        shutil.copyfile(guest("greet") / path, copy / path)
        os.utime(copy / path, (1, 1))
        (copy / path).chmod(0o600)
    assert subako("pack", copy, "-o", tmp_path / "b.tar.gz").status == 0
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()
    # Nor does it matter where one packs from.
    assert subako("pack", ".", "-o", tmp_path / "c.tar.gz", cwd=copy).status == 0
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "c.tar.gz").read_bytes()


def test_packing_what_was_packed_gives_the_same_bytes(subako, tmp_path):  # spec: B4
    assert subako("pack", guest("greet"), "-o", tmp_path / "a.tar.gz").status == 0
    assert subako("pack", tmp_path / "a.tar.gz", "-o", tmp_path / "b.tar.gz").status == 0
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()


def test_only_a_regular_file_elsewhere_is_replaced(subako, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    run = subako("pack", guest("greet"), "-o", tmp_path / "pipe")
    assert run.status == 3 and "regular file" in run.stderr, run
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    package = shutil.copytree(guest("greet"), tmp_path / "package")
    run = subako("pack", package, "-o", package / "assets" / "out.tgz")
    assert run.status == 3 and "lies in the folder" in run.stderr, run
    (tmp_path / "real.tgz").write_bytes(b"old")
    (tmp_path / "link.tgz").symlink_to("real.tgz")
    assert subako("pack", guest("greet"), "-o", tmp_path / "link.tgz").status == 0
    assert (tmp_path / "link.tgz").is_symlink() and (tmp_path / "real.tgz").read_bytes() != b"old"


def test_folder_that_is_no_package_is_refused_and_no_file_is_made(subako, tmp_path):  # spec: B3
    folder = tmp_path / "package"
    shutil.copytree(guest("greet"), folder)
    (folder / "assets" / "link").symlink_to("/etc/passwd")
    out = tmp_path / "out.tar.gz"
    run = subako("pack", folder, "-o", out)
    assert run.status == 3 and "assets/link" in run.stdout + run.stderr, run
    assert not out.exists()


def test_refused_pack_leaves_an_older_file_alone(subako, tmp_path):
    out = tmp_path / "out.tar.gz"
    out.write_bytes(b"older")
    assert subako("pack", tmp_path / "nowhere", "-o", out).status == 3
    assert out.read_bytes() == b"older"


def test_file_that_cannot_be_written(subako, tmp_path):
    run = subako("pack", guest("greet"), "-o", tmp_path / "no" / "such" / "folder.tar.gz")
    assert run.status in (3, 4) and "folder.tar.gz" in run.stderr, run
