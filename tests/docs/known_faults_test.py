#!/usr/bin/env python3
"""Every test that docs/known-faults.md names exists, and every fault there has one or says why it can't occur."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`([\w./-]+\.(?:cc|py|json)): ([\w.]+)`")


def rows(text):
    """The cells of each row of the tables whose columns are reference, what went wrong, here."""
    within = False
    for line in text.splitlines():
        if not line.startswith("|"):
            within = False
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells == ["reference", "what went wrong", "here"]:
            within = True
        elif within and not set("".join(cells)) <= set("-"):
            yield cells


def has_test(path, name, text):
    if path.endswith(".json"):
        return name in json.loads(text)
    if path.endswith(".py"):
        return re.search(rf"^def {re.escape(name)}\(", text, re.M) is not None
    suite, _, test = name.partition(".")
    return re.search(rf"^TEST(_F|_P)?\({re.escape(suite)},\s*{re.escape(test)}\)", text, re.M) is not None


def faults_of(text, read):
    """`read(path)`: that file's text, or None."""
    found = []
    for cells in rows(text):
        if len(cells) != 3 or not all(cells):
            found.append(f"not three cells: {' | '.join(cells)}")
            continue
        named = NAMED.findall(cells[2])
        if not named and not cells[2].startswith("can't occur: "):
            found.append(f"{cells[0]}: names no test (`file: test`), and doesn't say why it can't occur")
        for path, name in named:
            source = read(path)
            if source is None:
                found.append(f"{cells[0]}: there is no {path}")
            elif not has_test(path, name, source):
                found.append(f"{cells[0]}: {path} has no test {name}")
    return found


TABLE = """
| reference | what went wrong | here |
|---|---|---|
| x#1 | it fell | `src/a_test.cc: Suite.stands` |
"""


class Checker(unittest.TestCase):
    """The checker itself: it must be able to fail."""

    def faults(self, row="", source="TEST_F(Suite, stands) {", table=TABLE):
        return faults_of(table + row, lambda path: source if path == "src/a_test.cc" else None)

    def test_accepts_what_is_there(self):
        self.assertEqual(self.faults(), [])
        self.assertEqual(self.faults("| x#2 | it fell | can't occur: it has no legs |"), [])

    def test_misses_what_is_gone(self):
        self.assertIn("has no test", self.faults(source="TEST_F(Suite, stands_up) {")[0])
        self.assertIn("has no test", self.faults(source="TEST_F(Other, stands) {")[0])
        self.assertIn("there is no", self.faults("| x#2 | it fell | `src/b_test.cc: Suite.stands` |")[0])
        self.assertIn("names no test", self.faults("| x#2 | it fell | we think not |")[0])
        self.assertIn("not three cells", self.faults("| x#2 | it fell |")[0])

    def test_reads_every_kind_of_file(self):
        self.assertTrue(has_test("a.py", "test_a", "\ndef test_a(x):\n"))
        self.assertFalse(has_test("a.py", "test_a", "\ndef test_ab(x):\n"))
        self.assertTrue(has_test("a.json", "a", '{"a": 1}'))
        self.assertFalse(has_test("a.json", "a", '{"b": 1}'))


class Document(unittest.TestCase):
    def test_every_named_test_exists(self):
        def read(path):
            file = ROOT / path
            return file.read_text(encoding="utf-8") if file.is_file() else None

        text = (ROOT / "docs" / "known-faults.md").read_text(encoding="utf-8")
        self.assertGreater(len(list(rows(text))), 80, "the tables aren't read")
        self.assertEqual(faults_of(text, read), [])


if __name__ == "__main__":
    unittest.main()
