"""What differs between the two hosts' outcomes of a case, and whether it is known."""

import known
import memories
import rows
from calls import Call


def compare(calls, data, results, since):
    """(row of docs/abi.md or None, what differs), or None where nothing does."""
    (ours, our_tree), (theirs, their_tree) = results
    excused = None
    for at, (mine, his) in enumerate(zip(ours.answers, theirs.answers)):
        if mine == his:
            if mine == "SUCCESS" and known.parts(calls, at, data):
                return known.parts(calls, at, data), "parts"  # from here on they are in different states
            continue
        row, difference = known.of_answers(calls, at, data, mine, his), f"{calls[at].function} answers {mine}, Wasmtime {his}"
        if row is None:
            return None, difference
        excused = row, difference
        if not known.both_refused(mine, his):
            return excused
    if len(ours.answers) != len(theirs.answers):
        return None, f"{len(ours.answers)} answers, Wasmtime {len(theirs.answers)}"
    row, difference = memories.difference(calls, data, ours, theirs, since)
    if difference:
        excused = row, difference
    if row is None and difference or row == rows.SMALLEST_NUMBER:
        return excused
    if ours.answers[-1] == "TRAP":
        return excused or ((rows.BAD_POINTER, "") if our_tree != their_tree or ours.output != theirs.output else None)
    if ours.output != theirs.output:
        return None, f"wrote {ours.output!r}, Wasmtime {theirs.output!r}"
    if our_tree != their_tree:
        names = sorted(name for name in our_tree.keys() | their_tree.keys() if our_tree.get(name) != their_tree.get(name))
        return None, "; ".join(f"{name} is {our_tree.get(name)}, Wasmtime's {their_tree.get(name)}" for name in names[:3])
    return excused


def trap_that_did_something(pair, calls, data, results):
    """A call of ours that traps must leave all as the calls before it left it."""
    ours, tree = results[0]
    if ours.answers[-1] != "TRAP":
        return None
    before = len(ours.answers) - 1
    fewer = calls[:before] + [Call("proc_exit", [0])]
    untouched, tree_before = pair.run(fewer, data)[0]
    if tree == tree_before and ours.output == untouched.output:
        return None
    return None, f"{calls[before].function} traps and has done something"


def least(pair, calls, data, row, difference):
    """Without the calls that the same difference doesn't need."""
    at = 0
    while at < len(calls) and len(calls) > 1:
        fewer = calls[:at] + calls[at + 1 :]
        found = compare(fewer, data, pair.run(fewer, data), pair.begun)
        if found and found[0] == row and found[1] == difference:
            calls = fewer
        else:
            at += 1
    return calls
