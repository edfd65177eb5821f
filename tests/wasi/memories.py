"""What of two hosts' memory must be equal at the end, and what can't be: times, inodes, cookies, randomness."""

import struct

import rows
from meaning import Meaning, ends_with_slash


def fields(memory, at, layout, names):
    return dict(zip(names.split(), struct.unpack_from(layout, memory, at)))


def filestat(memory, at, since):
    """Without what no two trees have in common: device and inode, the time of access, and times of now."""
    found = fields(memory, at, "<QQB7xQQQQQ", "device inode type links size accessed modified changed")
    if found["modified"] > since:
        found["modified"] = "now"
    return {name: found[name] for name in ("type", "links", "size", "modified")}


def entries(memory, at, used):
    """The entries of a listing that are whole: they come in any order."""
    found, end = set(), at + used
    while at + 24 <= end:
        head = fields(memory, at, "<QQIB", "next inode length type")
        name = memory[at + 24 : at + 24 + head["length"]]
        if at + 24 + head["length"] > end:
            break
        found.add((name, head["type"]))
        at += 24 + head["length"]
    return found


def events(memory, at, count):
    return [fields(memory, at + 32 * i, "<QHBxxxxxQH", "userdata error type bytes flags") for i in range(min(count, 8))]


def some_of_the_same(mine, his):
    """Which are told where several are ready is the host's affair, but one at least."""
    bare = [{(one["userdata"], one["error"], one["type"]) for one in some} for some in (mine, his)]
    return all(bare) and (bare[0] <= bare[1] or bare[1] <= bare[0])


def number(memory, at):
    return struct.unpack_from("<I", memory, at)[0]


def views(call, memory, since):
    """[(address, length, what it means, the row if it may differ)] of results that aren't compared byte for byte."""
    words = [word & 0xFFFFFFFF for word in call.words]
    match call.function:
        case "clock_time_get" | "clock_res_get":
            return [(words[-1], 8, None, None)]
        case "random_get":
            return [(words[0], words[1], None, None)]
        case "fd_filestat_get":
            return [(words[-1], 64, filestat(memory, words[-1], since), None)]
        case "path_filestat_get":
            return [(words[-1], 64, filestat(memory, words[-1], since), rows.STAT_SLASH)]
        case "fd_fdstat_get":
            found = fields(memory, words[1], "<BxHxxxxQQ", "type flags base inheriting")
            return [(words[1], 1, found["type"], None), (words[1] + 1, 23, found, rows.RIGHTS_SHOWN)]
        case "fd_readdir":
            _, at, size, _, result = words
            used = number(memory, result)
            if at <= result + 3 and result < at + size:  # written over what was listed
                return [(at, size, None, None), (result, 4, None, None)]
            if call.words[3] != 0:
                return [(at, size, None, None), (result, 4, None, None)]
            return [(at, size, entries(memory, at, used) if used < size else None, None)]
        case "poll_oneoff":
            _, at, count, result = words
            found = events(memory, at, number(memory, result))
            return [(result, 4, None, None), (at, 32 * count, found, rows.EVENTS)]
        case "path_open":
            return [(words[-1], 4, number(memory, words[-1]), rows.SMALLEST_NUMBER)]
    return []


def difference(calls, data, ours, theirs, since):
    """(row or None, what differs), or (None, None)."""
    if not ours.memory or not theirs.memory:
        return None, None
    mine, his, excused = bytearray(ours.memory), bytearray(theirs.memory), (None, None)
    for call, answer in zip(calls, ours.answers):
        if answer != "SUCCESS":
            continue
        pairs = zip(views(call, ours.memory, since), views(call, theirs.memory, since))
        for (at, length, meant, row), (_, _, means, _) in pairs:
            mine[at : at + length] = his[at : at + length] = bytes(length)
            if meant == means:
                continue
            what = f"{call.function} gives {meant}, Wasmtime {means}"
            if row == rows.STAT_SLASH and not (ends_with_slash(Meaning(call, data).paths()[0]) and not call.words[1]):
                row = None
            if row == rows.EVENTS and not some_of_the_same(meant, means):
                row = None
            if row == rows.SMALLEST_NUMBER and sum(one.function in ("fd_close", "fd_renumber") for one in calls) < 2:
                row = None
            if row is None:
                return None, what
            excused = row, what
    if mine != his and excused[0] != rows.SMALLEST_NUMBER:
        at = next(i for i in range(len(mine)) if mine[i] != his[i])
        return None, f"memory differs at {at}: {bytes(mine[at : at + 8])}, Wasmtime {bytes(his[at : at + 8])}"
    return excused
