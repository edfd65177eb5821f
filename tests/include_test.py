#!/usr/bin/env python3
"""Holds the #includes of src/ against the room table of docs/architecture.md.

The table has the columns `room | what it is | may include`; a room's cell in the last one is a list of rooms, `all`, or a dash.
`base` may be included by every room. The process boundary is an include boundary: what runs in core's process and what runs
in the children's never include each other, by the table or through other rooms (`cli` wires everything and is exempt).
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORE_PROCESS = {"store", "egress", "core", "mcp", "server"}
CHILD_PROCESS = {"engine", "wasi", "guest_http", "worker", "builder", "bundle", "picture"}
ENGINE_HEADER = re.compile(r"^(wasmtime(/|\.h)|wasm\.h|wasi\.h|subako_engine_shims\.h)")
INCLUDE = re.compile(r"^\s*#\s*include\s*([<\"])([^>\"]+)[>\"]", re.M)
SOURCES = {".h", ".hh", ".hpp", ".cc", ".cpp", ".c", ".inc"}


def room_table(text):
    """{room: set of rooms that it may include, or None for all}"""
    table = {}
    columns = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.lstrip().startswith("|"):
            columns = None
        elif cells[0].lower() == "room" and cells[-1].lower() == "may include":
            columns = len(cells)
        elif columns is not None and len(cells) == columns and not set(cells[0]) <= set("-: "):
            names = re.findall(r"[a-z_]+", re.sub(r"\(.*?\)", "", cells[-1]))
            for room in re.findall(r"[a-z_]+", cells[0]):
                table[room] = None if names == ["all"] else set(names) | {"base"}
    return table


def reachable(table, room):
    seen, todo = set(), [room]
    while todo:
        for other in table.get(todo.pop()) or ():
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def check_table(table):
    faults = []
    if not table:
        return ["docs/architecture.md has no table with the columns room | what it is | may include"]
    for room, others in table.items():
        for other in sorted((others or set()) - table.keys()):
            faults.append(f"the table lets {room} include {other}, which is no room of the table")
        if others is not None and room in reachable(table, room) and room != "base":
            faults.append(f"the table has a cycle through {room}")
        for mine, theirs in ((CORE_PROCESS, CHILD_PROCESS), (CHILD_PROCESS, CORE_PROCESS)):
            crossed = (reachable(table, room) if others is not None else set(table)) & theirs
            if room in mine and crossed:
                faults.append(f"{room} reaches {', '.join(sorted(crossed))}, which runs in the other process")
    return faults


def check_sources(table, sources, test_folders=frozenset()):
    """`sources`: {path beneath src/: text}; an include of tests/<folder>/ is fine in a *_test.cc."""
    faults = []
    for path, text in sorted(sources.items()):
        room = path.split("/")[0]
        if "/" not in path:
            faults.append(f"src/{path}: lies in no room")
            continue
        if room not in table:
            faults.append(f"src/{path}: the room {room} is not in the table of docs/architecture.md")
            continue
        for quote, included in INCLUDE.findall(text):
            if ENGINE_HEADER.match(included):
                if room != "engine":
                    faults.append(
                        f"src/{path}: includes {included}; only the room engine may include the engine"
                    )
                continue
            if quote == "<":
                continue
            if "/" not in included:
                faults.append(f'src/{path}: "{included}" must be spelt "room/file.h"')
                continue
            other = included.split("/")[0]
            if other in test_folders and "_test" in path:
                continue
            allowed = table[room]
            if other != room and other != "base" and allowed is not None and other not in allowed:
                faults.append(f"src/{path}: {room} may not include {other} ({included})")
            if room == "cli" and not path.endswith("child_main.cc") and other in CHILD_PROCESS:
                faults.append(f"src/{path}: runs in core's process and may not include {other} ({included})")
            if other not in table:
                faults.append(f"src/{path}: includes {included}, and {other} is no room")
    return faults


def read_sources(src):
    return {
        str(path.relative_to(src)): path.read_text(encoding="utf-8", errors="replace")
        for path in src.rglob("*")
        if path.suffix in SOURCES
    }


TABLE = """
| room | what it is | may include |
|---|---|---|
| `base` | the ground | — |
| `volume` | trees | base |
| `engine` | the engine | base |
| `core` | the node | volume |
| `worker` | guests | engine, volume |
| `cli` | wires it all | all |
"""


class Checker(unittest.TestCase):
    """The checker itself, on small made-up trees: it must be able to fail."""

    def faults(self, path, text):
        return check_sources(room_table(TABLE), {path: text}, {"support"})

    def test_reads_the_table(self):
        table = room_table(TABLE)
        self.assertEqual(table["core"], {"volume", "base"})
        self.assertEqual(table["worker"], {"engine", "volume", "base"})
        self.assertIsNone(table["cli"])
        self.assertEqual(check_table(table), [])

    def test_accepts_what_the_table_allows(self):
        self.assertEqual(
            self.faults("core/a.cc", '#include "core/a.h"\n#include "volume/b.h"\n#include <vector>\n'), []
        )
        self.assertEqual(self.faults("cli/child_main.cc", '#include "worker/a.h"\n'), [])
        self.assertEqual(self.faults("engine/a.h", "#include <wasmtime.h>\n"), [])
        self.assertEqual(self.faults("core/a_test.cc", '#include "support/a.h"\n'), [])

    def test_refuses_what_it_does_not(self):
        self.assertIn("core may not include worker", self.faults("core/a.cc", '#include "worker/b.h"\n')[0])
        self.assertIn("runs in core's process", self.faults("cli/main.cc", '#include "worker/a.h"\n')[0])
        self.assertIn("not in the table", self.faults("attic/a.cc", "")[0])
        self.assertIn("lies in no room", self.faults("a.cc", "")[0])
        self.assertIn("must be spelt", self.faults("core/a.cc", '#include "a.h"\n')[0])
        self.assertIn("is no room", self.faults("cli/a.cc", '#include "gone/a.h"\n')[0])
        self.assertIn("support", self.faults("core/a.cc", '#include "support/a.h"\n')[0])

    def test_keeps_the_engine_in_its_room(self):
        for header in ("<wasmtime.h>", '"wasmtime/store.h"', "<wasm.h>"):
            self.assertIn("only the room engine", self.faults("worker/a.cc", f"#include {header}\n")[0])

    def test_keeps_the_processes_apart(self):
        self.assertIn(
            "other process",
            check_table(room_table(TABLE.replace("| node | volume |", "") + "| `core` | x | worker |"))[0],
        )
        through = TABLE + "| `middle` | x | engine |\n| `store` | x | middle |"
        self.assertIn("store reaches engine", check_table(room_table(through))[0])

    def test_refuses_a_cycle_a_stranger_and_no_table(self):
        self.assertIn(
            "cycle", check_table(room_table(TABLE.replace("| trees | base |", "| trees | core |")))[0]
        )
        self.assertIn(
            "no room of the table", check_table(room_table(TABLE + "| `more` | x | nothing_there |"))[0]
        )
        self.assertIn("no table", check_table(room_table("nothing here"))[0])


class Tree(unittest.TestCase):
    """This repository."""

    def test_docs_and_includes_agree(self):
        document = ROOT / "docs" / "architecture.md"
        self.assertTrue(document.exists(), "docs/architecture.md, which holds the room table, is missing")
        table = room_table(document.read_text(encoding="utf-8"))
        folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
        sources = read_sources(ROOT / "src")
        faults = check_table(table) + check_sources(table, sources, folders)
        on_disk = {path.split("/")[0] for path in sources if "/" in path}
        faults += [
            f"the table has the room {room}, but there is no src/{room}/"
            for room in sorted(table.keys() - on_disk)
        ]
        self.assertEqual(faults, [], "\n" + "\n".join(faults))


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--root":
        ROOT = pathlib.Path(sys.argv[2]).resolve()
        del sys.argv[1:3]
    unittest.main()
