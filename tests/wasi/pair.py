"""Our host and Wasmtime side by side."""

import time

import trees
from calls import RunModule
from reference import Reference
from stories import PREOPENS, TREE


class Pair:
    """Our host and Wasmtime, each on its own tree of the same content."""

    def __init__(self, program, scratch):
        # Roots of the same length: targets of links are then equally long.
        self.roots = [scratch / "ours", scratch / "wasm"]
        self.begun = time.time_ns() - 10**9
        self.fresh = [False, False]
        for root in self.roots:
            trees.make(root, TREE)
        self.at_first = [self.told(0), self.told(1)]
        options = []
        for folder, guest, writable in PREOPENS:
            options += ["--dir" if writable else "--ro-dir", f"{self.roots[0] / folder}::{guest}"]
        self.ours = RunModule(program, options)
        self.theirs = Reference([(self.roots[1] / folder, guest, writable) for folder, guest, writable in PREOPENS])

    def told(self, side):
        return trees.told(self.roots[side], self.begun)

    def run(self, calls, data):
        """[(outcome, tree) of ours, of theirs]"""
        results = []
        for side, host in enumerate((self.ours, self.theirs)):
            if not self.fresh[side]:
                trees.make(self.roots[side], TREE)
            outcome = host.run(calls, data)
            tree = self.told(side)
            self.fresh[side] = tree == self.at_first[side]
            results.append((outcome, tree))
        return results

    def close(self):
        self.ours.close()
