#!/usr/bin/env python3
"""Holds our answers to single calls against Wasmtime's (oracle_cases.py).

    oracle.py RUN_MODULE          ours; no Wasmtime is needed
    oracle.py --wasmtime          whether the table is right about Wasmtime (48.0.0 of the package `wasmtime` of PyPI)
"""

import pathlib
import sys
import tempfile

import rows
import trees
from calls import RunModule
from oracle_cases import CASES, RO, RW, TREE

HERE = pathlib.Path(__file__).resolve().parent
ABI = HERE.parents[1] / "docs" / "abi.md"
PREOPENS = {RW: ("pre", "/v", True), RO: ("ro", "/ro", False)}


def differences_told():
    """The rows of "Where it differs from Wasmtime" in docs/abi.md, by their first cell."""
    section = ABI.read_text().split("## Where it differs from Wasmtime\n")[1].split("\n## ")[0]
    return {line.strip("|").split("|")[0].strip() for line in section.splitlines() if line.startswith("|")} - {"call", "---"}


def our_host(program, root):
    options = []
    for folder, guest, writable in PREOPENS.values():
        options += ["--dir" if writable else "--ro-dir", f"{root / folder}::{guest}"]
    return RunModule(program, options)


def wasmtime_host(root):
    from reference import Reference

    return Reference([(root / folder, guest, writable) for folder, guest, writable in PREOPENS.values()])


def answers(host, root):
    for case in CASES:
        trees.make(root, TREE)
        yield case, host.run([case.call], case.memory).answers[0]


def check_table():
    told = differences_told()
    known = set(rows.ALL.values())
    faults = [f"docs/abi.md tells of {row!r}, and rows.py doesn't" for row in sorted(told - known)]
    faults += [f"docs/abi.md doesn't tell of {row!r}" for row in sorted(known - told)]
    programs = "".join((HERE / name).read_text() for name in ("oracle_cases.py", "known.py", "memories.py"))
    faults += [f"no case and no rule has the row {name}" for name in rows.ALL if f"rows.{name}" not in programs]
    if len({case.name for case in CASES}) != len(CASES):
        faults.append("two cases have the same name")
    for case in CASES:
        if (case.ours is None) != (case.why is None) or case.ours == case.wasmtime:
            faults.append(f"{case.name}: an answer of our own has a reason, and only that")
    return faults


def main(words):
    if len(words) != 1:
        raise SystemExit(__doc__)
    faults = check_table()
    with tempfile.TemporaryDirectory(prefix="wasi-oracle-") as scratch:
        root = pathlib.Path(scratch) / "tree"
        reference = words == ["--wasmtime"]
        trees.make(root, TREE)
        host = wasmtime_host(root) if reference else our_host(pathlib.Path(words[0]).resolve(), root)
        for case, answer in answers(host, root):
            expected = case.wasmtime if reference else case.expected()
            if answer != expected:
                faults.append(f"{case.name}: {answer} and not {expected}")
        host.close()
    for fault in faults:
        print(fault)
    print(f"{len(CASES)} cases, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
