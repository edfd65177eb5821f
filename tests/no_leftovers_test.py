#!/usr/bin/env python3
"""Nothing of one machine, of unfinished work or of a reference package is left in the tree."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED_GUESTS = pathlib.Path(os.environ.get("SUBAKO_SHARED_GUESTS") or ROOT.parent / "shared" / "guests")
# Spelt in parts, so that this file doesn't name what it looks for.
MACHINE_PATH = re.compile(
    r"(?<![\w.$}~/-])/(?:" + "|".join(["home", "wor" + "k", "ro" + "ot", "Users"]) + r")/[\w.-]"
)
UNFINISHED = re.compile(r"\b(?:" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
ORDINARY_WORDS = {"hostile", "static"}


def files():
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True
    )
    if listed.returncode == 0:
        names = [name for name in listed.stdout.decode().split("\0") if name]
    else:  # a source archive
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
        names = [name for name in names if not name.startswith(("build/", ".git/"))]
    for name in sorted(names):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if b"\0" not in data[:8000]:
                yield name, data.decode("utf-8", errors="replace")


def lines_with(pattern, beneath=""):
    found = []
    for name, text in files():
        if name.startswith(beneath):
            for number, line in enumerate(text.splitlines(), 1):
                if pattern.search(line):
                    found.append(f"{name}:{number}: {line.strip()[:120]}")
    return found


class NoLeftovers(unittest.TestCase):
    def none(self, found):
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_can_fail(self):
        self.assertTrue(MACHINE_PATH.search("see /" + "work/x"))
        self.assertTrue(UNFINISHED.search("// TO" + "DO: later"))

    def test_no_path_of_one_machine(self):
        self.none(lines_with(MACHINE_PATH))

    def test_nothing_unfinished(self):
        self.none(lines_with(UNFINISHED, "src/"))

    def test_sources_name_no_reference_guest(self):
        if not SHARED_GUESTS.is_dir():
            self.skipTest(f"the shared guests are not at {SHARED_GUESTS} (set SUBAKO_SHARED_GUESTS)")
        names = {path.name for path in SHARED_GUESTS.iterdir() if path.is_dir()} - ORDINARY_WORDS
        self.none(
            lines_with(
                re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, sorted(names))) + r")(?![\w-])"), "src/"
            )
        )


if __name__ == "__main__":
    unittest.main()
