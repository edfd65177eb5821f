"""What the arguments of a call mean: which are descriptors, flags and paths, what must lie in memory, what is wrong with them."""

import struct

from calls import PAGE, SIGNATURES

# A parameter for each word. `*A:N` is a pointer to N bytes aligned to A, `*A` one to as many as the length that follows.
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
OFF_LIMITS = (b"..", b"esc", b"abs", b"bounce")  # a path with one of these may lead out


class Meaning:
    """Of one call of a module of calls.py; `data` is the memory at its start."""

    def __init__(self, call, data):
        self.function = call.function
        widths = [(1 << 64) - 1 if kind == "I" else (1 << 32) - 1 for kind in SIGNATURES[call.function]]
        self.words = [word & width for word, width in zip(call.words, widths)]
        self.kinds = PARAMETERS[call.function].split()
        self.data = data

    def values(self, kind):
        return [word for word, of in zip(self.words, self.kinds) if of == kind]

    def value(self, kind):
        return (self.values(kind) or [0])[0]

    def bytes_at(self, at, length):
        image = bytearray(PAGE)
        for place, content in self.data.items():
            image[place : place + len(content)] = content
        return bytes(image[at : at + length])

    def paths(self):
        at = [i for i, kind in enumerate(self.kinds) if kind == "path"]
        return [self.bytes_at(self.words[i], self.words[i + 1]) for i in at]

    def fds(self):
        return self.values("fd")

    def has_unknown_flag(self):
        for word, kind in zip(self.words, self.kinds):
            if kind in KNOWN_FLAGS and word not in KNOWN_FLAGS[kind]:
                return True
        if self.function == "poll_oneoff":
            return any(tag == 0 and (number > 3 or flags > 1) or tag > 2 for _, tag, number, flags in self.subscriptions())
        return False

    def subscriptions(self):
        at, count = self.words[0], min(self.value("count"), 64)
        for i in range(count):
            one = self.bytes_at(at + 48 * i, 48)
            if len(one) == 48:
                userdata, tag, number, _, _, flags = struct.unpack("<QB7xIxxxxQQHxxxxxx", one)
                yield userdata, tag, number, flags

    def buffers(self):
        at = self.kinds.index("buffers")
        listed = self.bytes_at(self.words[at], 8 * min(self.words[at + 1], PAGE // 8))
        return list(struct.iter_unpack("<II", listed[: len(listed) // 8 * 8]))

    def several_buffers(self):
        return "buffers" in self.kinds and sum(length > 0 for _, length in self.buffers()) > 1

    def ranges(self):
        """(pointer, length, alignment) of all that must lie in memory."""
        for i, (at, kind) in enumerate(zip(self.words, self.kinds)):
            following = self.words[i + 1] if i + 1 < len(self.words) else 0
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
