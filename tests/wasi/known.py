"""The differences from Wasmtime that are meant. Each is a row of "Where it differs from Wasmtime" in docs/abi.md, and holds only
for a call whose arguments are such as the row says: whatever else differs is news."""

import struct

import rows
from calls import PAGE

PARAMETERS = {
    "args_get": "*4 *1",
    "args_sizes_get": "*4:4 *4:4",
    "clock_res_get": "clock *8:8",
    "clock_time_get": "clock precision *8:8",
    "environ_get": "*4 *1",
    "environ_sizes_get": "*4:4 *4:4",
    "fd_advise": "fd offset length advice",
    "fd_allocate": "fd offset length",
    "fd_close": "fd",
    "fd_datasync": "fd",
    "fd_fdstat_get": "fd *8:24",
    "fd_fdstat_set_flags": "fd fdflags",
    "fd_fdstat_set_rights": "fd rights rights",
    "fd_filestat_get": "fd *8:64",
    "fd_filestat_set_size": "fd size",
    "fd_filestat_set_times": "fd time time timeflags",
    "fd_pread": "fd buffers count offset *4:4",
    "fd_prestat_dir_name": "fd *1 length",
    "fd_prestat_get": "fd *4:8",
    "fd_pwrite": "fd buffers count offset *4:4",
    "fd_read": "fd buffers count *4:4",
    "fd_readdir": "fd *1 length cookie *4:4",
    "fd_renumber": "fd fd",
    "fd_seek": "fd delta whence *8:8",
    "fd_sync": "fd",
    "fd_tell": "fd *8:8",
    "fd_write": "fd buffers count *4:4",
    "path_create_directory": "fd path length",
    "path_filestat_get": "fd lookup path length *8:64",
    "path_filestat_set_times": "fd lookup path length time time timeflags",
    "path_link": "fd nolookup path length fd path length",
    "path_open": "fd lookup path length oflags rights rights fdflags *4:4",
    "path_readlink": "fd path length *1 length *4:4",
    "path_remove_directory": "fd path length",
    "path_rename": "fd path length fd path length",
    "path_symlink": "path length fd path length",
    "path_unlink_file": "fd path length",
    "poll_oneoff": "*8 *8 count *4:4",
    "proc_exit": "code",
    "proc_raise": "signal",
    "random_get": "*1 length",
    "sched_yield": "",
    "sock_accept": "fd fdflags *4:4",
    "sock_recv": "fd buffers count riflags *4:4 *2:2",
    "sock_send": "fd buffers count noflags *4:4",
    "sock_shutdown": "fd sdflags",
}

# The values of each kind of flag or enum.
KNOWN_FLAGS = {
    "lookup": range(2),
    "nolookup": range(1),
    "oflags": range(16),
    "fdflags": range(32),
    "timeflags": range(16),
    "riflags": range(4),
    "sdflags": range(4),
    "noflags": range(1),
    "rights": range(1 << 30),
    "clock": range(4),
    "whence": range(3),
    "advice": range(6),
    "signal": range(31),
}
SYNC_FLAGS = 2 | 8 | 16
OF_A_NAME = {"EXIST", "NOENT", "NOTDIR", "PERM", "LOOP", "BUSY", "ISDIR", "INVAL"}
OFF_LIMITS = (b"..", b"esc", b"abs", b"bounce")  # a path with one of these may lead out


class Meant:
    """A call with the meaning of its arguments."""

    def __init__(self, call, data, memory=None):
        self.function = call.function
        self.words = [w & 0xFFFFFFFF if abs(w) < 1 << 32 else w & (1 << 64) - 1 for w in call.words]
        self.kinds = PARAMETERS[call.function].split()
        self.data = data

    def values(self, kind):
        return [self.narrow(word, kind) for word, of in zip(self.words, self.kinds) if of == kind]

    @staticmethod
    def narrow(word, kind):
        return word & (0xFFFFFFFFFFFFFFFF if kind in ("rights", "offset", "size", "time", "delta") else 0xFFFFFFFF)

    def value(self, kind):
        return (self.values(kind) or [0])[0]

    def bytes_at(self, at, length):
        image = bytearray(PAGE)
        for place, content in self.data.items():
            image[place : place + len(content)] = content
        return bytes(image[at : at + length])

    def paths(self):
        at = [i for i, kind in enumerate(self.kinds) if kind == "path"]
        return [
            self.bytes_at(self.narrow(self.words[i], "path"), self.narrow(self.words[i + 1], "length")) for i in at
        ]

    def fds(self):
        return self.values("fd")

    def has_unknown_flag(self):
        for word, kind in zip(self.words, self.kinds):
            if kind in KNOWN_FLAGS and self.narrow(word, kind) not in KNOWN_FLAGS[kind]:
                return True
        if self.function == "poll_oneoff":
            return any(tag == 0 and (number > 3 or flags > 1) or tag > 2 for _, tag, number, flags in self.subscriptions())
        return False

    def subscriptions(self):
        at, count = self.narrow(self.words[0], ""), min(self.value("count"), 64)
        for i in range(count):
            one = self.bytes_at(at + 48 * i, 48)
            if len(one) == 48:
                userdata, tag, number, _, _, flags = struct.unpack("<QB7xIxxxxQQHxxxxxx", one)
                yield userdata, tag, number, flags

    def buffers(self):
        at = self.kinds.index("buffers")
        listed = self.bytes_at(self.narrow(self.words[at], ""), 8 * min(self.narrow(self.words[at + 1], ""), PAGE // 8))
        return list(struct.iter_unpack("<II", listed[: len(listed) // 8 * 8]))

    def several_buffers(self):
        return "buffers" in self.kinds and sum(length > 0 for _, length in self.buffers()) > 1

    def ranges(self):
        """(pointer, length, alignment) of all that must lie in memory."""
        for i, (word, kind) in enumerate(zip(self.words, self.kinds)):
            at = self.narrow(word, "")
            following = self.narrow(self.words[i + 1], "") if i + 1 < len(self.words) else 0
            if kind.startswith("*"):
                alignment, _, size = kind[1:].partition(":")
                if self.function == "poll_oneoff" and not size:
                    size = self.value("count") * (48, 32)[i]
                elif not size and self.kinds[i + 1 : i + 2] == ["length"]:
                    size = following
                elif not size:
                    size = 7 if self.function == "args_get" and i else 0
                yield at, int(size), int(alignment)
            elif kind == "path":
                yield at, following, 1
            elif kind == "buffers":
                yield at, 8 * following, 4
                for buffer, length in self.buffers():
                    if length:
                        yield buffer, length, 1

    def has_bad_pointer(self):
        return any(at + length > PAGE or at % alignment for at, length, alignment in self.ranges())

    def wrongs(self, surprising):
        """Errors that the arguments alone call for, in no order. Of `surprising` descriptors nothing is known."""
        found = set()
        if self.has_unknown_flag() or any(flags & 3 == 3 or flags & 12 == 12 for flags in self.values("timeflags")):
            found.add("INVAL")
        if self.value("nolookup"):
            found.add("INVAL")
        if self.value("oflags") & 2 and self.value("oflags") & 9:
            found.add("INVAL")
        if self.value("fdflags") & SYNC_FLAGS:
            found.add("NOTSUP")
        if any(offset >= 1 << 63 for offset in self.values("offset") + self.values("size")):
            found.add("INVAL")
        for fd in self.fds():
            if fd < 3 or fd in surprising:
                found |= {"BADF", "NOTDIR"} if self.paths() else {"BADF"}
            if fd == 4 or fd in surprising:
                found.add("PERM")
        for path in self.paths():
            if b"\0" in path:
                found.add("INVAL")
            if not path:
                found.add("NOENT")
            if len(path) >= 4096 or any(len(one) > 255 for one in path.split(b"/")):
                found.add("NAMETOOLONG")
            if path.startswith(b"/") or any(one in path for one in OFF_LIMITS):
                found.add("PERM")
            try:
                path.decode()
            except UnicodeDecodeError:
                found.add("ILSEQ")
        return found


def ends_with_slash(path):
    return path.endswith((b"/", b"/."))


def opened_otherwise(calls):
    """Some file was opened with rights of which Wasmtime makes more."""
    for call in calls:
        if call.function == "path_open":
            writes = call.words[5] & 64
            if not call.words[5] & 66 or (call.words[4] & 9 and not writes):
                return True
    return False


def of_answers(calls, at, data, mine, his):
    """The row of a difference between two answers to calls[at]; None: there is none."""
    call = Meant(calls[at], data)
    function, paths, fd = call.function, call.paths(), call.value("fd")
    pair = mine, his
    renumbered = any(one.function == "fd_renumber" for one in calls[:at])
    surprising = {one for one in call.fds() if one > 5 or renumbered}
    if mine == "TRAP":
        if his == "NOMEM":
            return rows.LONG_LIST if call.has_bad_pointer() else None
        return rows.BAD_POINTER if call.has_bad_pointer() else None
    if call.has_unknown_flag() and (his == "TRAP" or mine == "INVAL"):
        return rows.UNKNOWN_FLAG
    if function == "proc_exit" and his == "TRAP" and call.words[0] > 125:
        return rows.EXIT
    if function == "path_open" and his == "NOTSUP" and call.value("fdflags") & SYNC_FLAGS:
        return rows.SYNC_OPEN
    if function in ("fd_sync", "fd_datasync") and pair == ("SUCCESS", "BADF"):
        return rows.SYNCED_DIRECTORY
    if function == "fd_filestat_set_times" and his == "BADF" and mine in ("SUCCESS", "PERM"):
        return rows.DIRECTORY_TIMES
    if function in ("clock_time_get", "clock_res_get") and pair == ("INVAL", "BADF") and call.value("clock") in (2, 3):
        return rows.ABSENT_CLOCK
    if function == "fd_fdstat_set_flags":
        if call.value("fdflags") & SYNC_FLAGS and mine == "NOTSUP" and his in ("INVAL", "BADF"):
            return rows.SYNC_FLAGS_SET
        if pair == ("SUCCESS", "BADF"):
            return rows.STREAM_FLAGS
    if function == "fd_fdstat_set_rights" and his in ("NOTSUP", "BADF"):
        return rows.RIGHTS_SET
    if function == "fd_readdir" and pair == ("NOTDIR", "BADF"):
        return rows.LISTED_FILE
    if function == "fd_prestat_dir_name" and pair == ("BADF", "NOTDIR"):
        return rows.PREOPEN_NAME
    if pair == ("INVAL", "SUCCESS"):
        if function == "fd_seek" and any(one.function == "fd_seek" and one.words[1] > 1 << 62 for one in calls[: at + 1]):
            return rows.FAR_OFFSET
        if function in ("fd_advise", "fd_pwrite") and any(word >= 1 << 63 for word in call.words):
            return rows.FAR_OFFSET
    if function in ("fd_filestat_set_size", "fd_write", "fd_pwrite") and mine == "DQUOT":
        return rows.QUOTA
    if function == "poll_oneoff" and pair == ("BADF", "SUCCESS"):
        if any(tag and fd > 5 for _, tag, fd, _ in call.subscriptions()):
            return rows.POLLED_FILE
    if his == "SUCCESS" and opened_otherwise(calls[:at]):
        if function in ("fd_read", "fd_pread", "fd_write", "fd_pwrite") and mine == "BADF":
            return rows.OPENED_TO
        if function == "fd_filestat_set_size" and mine == "INVAL":
            return rows.OPENED_TO
    if function == "path_filestat_set_times" and call.value("timeflags") == 0 and his == "SUCCESS":
        return rows.NO_TIME
    if function == "path_open" and pair == ("NOTDIR", "LOOP") and call.value("oflags") & 2 and not call.value("lookup"):
        return rows.DIRECTORY_LINK
    if paths and pair == ("NOTDIR", "BADF") and surprising:
        return rows.BENEATH_FILE
    if function == "path_remove_directory" and his == "INVAL" and mine in ("NOTEMPTY", "SUCCESS"):
        if paths[0].endswith((b"..", b"/")):
            return rows.REMOVED_SLASH
    if "buffers" in call.kinds and mine == "INVAL" and call.value("count") > 1024:
        return rows.MANY_BUFFERS
    if paths and any(map(ends_with_slash, paths)):
        if function in ("path_filestat_get", "path_filestat_set_times") and his == "SUCCESS" and not call.value("lookup"):
            return rows.STAT_SLASH
        if function == "path_rename" and mine == "NOTDIR" and (his == "SUCCESS" or both_refused(*pair)):
            return rows.RENAMED_SLASH
        if function in ("path_remove_directory", "path_unlink_file") and both_refused(*pair):
            return rows.REMOVED_SLASH
        if function in ("path_link", "path_symlink") and mine == "NOTDIR" and both_refused(*pair):
            return rows.LINK_SLASH
    if both_refused(*pair):
        wrongs = call.wrongs(surprising)
        if (mine in wrongs or his in wrongs) and (len(wrongs) > 1 or not {mine, his} <= wrongs):
            return rows.TWO_ERRORS
        # Each path has its own error, and which is told first isn't the same.
        if function in ("path_link", "path_rename") and {mine, his} <= OF_A_NAME:
            return rows.TWO_ERRORS
    return None


def both_refused(mine, his):
    """Neither did anything, and both guests go on."""
    return not any(word in answer for answer in (mine, his) for word in ("SUCCESS", "TRAP", "EXIT"))


def parts(calls, at, data):
    """The row of a call that succeeds with both and does another thing, or None."""
    call = Meant(calls[at], data)
    if call.several_buffers():
        return rows.SEVERAL_BUFFERS
    if call.function == "fd_write" and not any(length for _, length in call.buffers()):
        flags = [one for earlier in calls[:at] for one in Meant(earlier, data).values("fdflags")]
        return rows.APPENDED_NOTHING if any(one & 1 for one in flags) else None
    return None


# --------------------------------------------------------------------------------------------------------- memory


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


def of_memory(calls, data, ours, theirs, since):
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
            if row == rows.STAT_SLASH and not (ends_with_slash(Meant(call, data).paths()[0]) and not call.words[1]):
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
