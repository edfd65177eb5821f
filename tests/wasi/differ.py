#!/usr/bin/env python3
"""Looks for calls that Wasmtime answers otherwise than we.

    differ.py RUN_MODULE [--first N] [--cases N | --seconds N] [--case N] [--all]

Makes modules of one to six calls (stories.py): an oracle case with something changed, or a story of its own (open something,
do things to it). Both hosts run each on a tree of the same content (pair.py). Compared are the answers, the memory at the end,
what was written to stdout and stderr, and the tree; a call of ours that traps must have done nothing (comparison.py). A
difference that known.py doesn't know is printed with the least of its calls that still show it.

Needs the package `wasmtime` of PyPI, 48.0.0. Case N is the same on every machine.
"""

import argparse
import collections
import pathlib
import sys
import tempfile
import time

from calls import SIGNATURES
from comparison import compare, least, trap_that_did_something
from pair import Pair
from stories import Maker


def shown(calls, data):
    lines = [f"    {call.function}({', '.join(str(word) for word in call.words)})" for call in calls]
    return "\n".join(lines + [f"    at {at}: {content[:80]!r}" for at, content in sorted(data.items())])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run_module", type=pathlib.Path)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--cases", type=int, default=10**12)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--case", type=int, help="only this one, and show it")
    parser.add_argument("--all", action="store_true", help="go on after a new difference")
    options = parser.parse_args()
    if options.case is not None:
        options.first, options.cases = options.case, 1

    until = time.monotonic() + options.seconds
    met, answers, new, number = collections.Counter(), collections.Counter(), collections.Counter(), options.first
    with tempfile.TemporaryDirectory(prefix="wasi-differ-") as scratch:
        pair = Pair(options.run_module.resolve(), pathlib.Path(scratch))
        while number < options.first + options.cases and time.monotonic() < until:
            made = Maker(number)
            results = pair.run(made.calls, made.data)
            for call, answer in zip(made.calls, results[0][0].answers):
                answers[call.function, answer] += 1
            found = compare(made.calls, made.data, results, pair.begun)
            found = trap_that_did_something(pair, made.calls, made.data, results) or found
            if options.case is not None:
                print(shown(made.calls, made.data))
                print("ours:    ", results[0][0].answers, "\nWasmtime:", results[1][0].answers, f"\n{found}")
            elif found and found[0]:
                met[found[0]] += 1
            elif found:
                new[found[1]] += 1
                if new[found[1]] == 1:
                    calls = least(pair, made.calls, made.data, *found)
                    print(f"case {number}: {found[1]}\n{shown(calls, made.data)}", flush=True)
                if not options.all:
                    break
            number += 1
            if (number - options.first) % 10_000 == 0:
                print(f"{number - options.first} cases, {len(new)} new differences so far", flush=True)
        pair.close()
    for row, count in met.most_common():
        print(f"{count:8}  {row}")
    succeeded = {function for function, answer in answers if answer == "SUCCESS"}
    never = sorted(SIGNATURES.keys() - succeeded)
    if options.case is None:
        print(f"never answered with success: {', '.join(never)}")
    print(f"{number - options.first} cases, {sum(answers.values())} calls, {len(new)} new differences")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
