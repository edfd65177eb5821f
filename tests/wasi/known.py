"""The differences from Wasmtime that are meant. Each is a row of "Where it differs from Wasmtime" in docs/abi.md, and holds only
for a call whose arguments are such as the row says: whatever else differs is news."""

import rows
from meaning import SYNC_FLAGS, Meaning, ends_with_slash

OF_A_NAME = {"EXIST", "NOENT", "NOTDIR", "PERM", "LOOP", "BUSY", "ISDIR", "INVAL"}
OF_A_PATH = {"NOENT", "NOTDIR", "PERM", "LOOP"}
OF_A_DESCRIPTOR = {"BADF", "NOTDIR", "NOTCAPABLE", "SPIPE"}
SURE = {"INVAL", "NOENT", "NAMETOOLONG", "ILSEQ"}  # what no call that has it among its wrongs succeeds with


def opened_otherwise(calls):
    """Some file was opened with rights of which Wasmtime makes more."""
    for call in calls:
        if call.function == "path_open":
            writes = call.words[5] & 64
            if not call.words[5] & 66 or (call.words[4] & 9 and not writes):
                return True
    return False


def offset_named(call):
    """How far into a file the call goes by its arguments alone."""
    match call.function:
        case "fd_filestat_set_size":
            return call.value("size")
        case "fd_pwrite":
            return call.value("offset") + sum(length for _, length in call.buffers())
        case "fd_seek":
            return call.value("delta") & (1 << 63) - 1 if call.value("delta") < 1 << 63 else 0
        case "fd_write":
            return sum(length for _, length in call.buffers())
    return 0


def past_quota(calls, at, data):
    """Can calls[at] have wanted more than what a guest may write? Where it writes may depend on the calls before."""
    offsets = [offset_named(Meaning(one, data)) for one in calls[: at + 1]]
    return (offsets[-1] if calls[at].function == "fd_filestat_set_size" else sum(offsets)) > 1 << 30


def of_answers(calls, at, data, mine, his):
    """The row of a difference between two answers to calls[at]; None: there is none."""
    call = Meaning(calls[at], data)
    function, paths = call.function, call.paths()
    pair = mine, his
    renumbered = any(one.function == "fd_renumber" for one in calls[:at])
    surprising = {one for one in call.fds() if one > 5 or renumbered}
    if mine == "TRAP":
        if his == "NOMEM":
            return rows.LONG_LIST if call.has_bad_pointer() else None
        return rows.BAD_POINTER if call.has_bad_pointer() else None
    wrongs = call.wrongs(surprising)
    if call.has_unknown_flag():
        if his == "TRAP" and (mine == "INVAL" or call.fds() and mine in OF_A_DESCRIPTOR):
            return rows.UNKNOWN_FLAG
        if mine == "INVAL" and both_refused(*pair):
            return rows.UNKNOWN_FLAG
    if function == "proc_exit" and his == "TRAP" and call.words[0] > 125:
        return rows.EXIT
    if function == "path_open" and his == "NOTSUP" and call.value("fdflags") & SYNC_FLAGS:
        allowed = mine in OF_A_NAME - {"INVAL"} | wrongs or mine == "SUCCESS" and not wrongs & SURE
        return rows.SYNC_OPEN if allowed else None
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
    if function == "fd_fdstat_set_rights" and his in ("NOTSUP", "BADF") and mine in ("SUCCESS", "NOTCAPABLE"):
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
        return rows.QUOTA if his in ("SUCCESS", "FBIG", "INVAL") and past_quota(calls, at, data) else None
    if function == "poll_oneoff" and pair == ("BADF", "SUCCESS"):
        if any(tag and fd > 5 for _, tag, fd, _ in call.subscriptions()):
            return rows.POLLED_FILE
    if his == "SUCCESS" and opened_otherwise(calls[:at]):
        if function in ("fd_read", "fd_pread", "fd_write", "fd_pwrite") and mine == "BADF":
            return rows.OPENED_TO
        if function == "fd_filestat_set_size" and mine == "INVAL":
            return rows.OPENED_TO
    if function == "path_filestat_set_times" and call.value("timeflags") == 0 and his == "SUCCESS" and mine in OF_A_PATH | wrongs:
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
        if function in ("path_remove_directory", "path_unlink_file") and both_refused(*pair) and mine in OF_A_NAME:
            return rows.REMOVED_SLASH
        if function in ("path_link", "path_symlink") and mine == "NOTDIR" and both_refused(*pair):
            return rows.LINK_SLASH
    if both_refused(*pair):
        by_the_tree = {mine, his} - wrongs  # the other error, if the arguments call for one alone
        if len(by_the_tree) < 2 and by_the_tree <= OF_A_NAME | OF_A_DESCRIPTOR:
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
    call = Meaning(calls[at], data)
    if call.several_buffers():
        return rows.SEVERAL_BUFFERS
    if call.function == "fd_write" and not any(length for _, length in call.buffers()):
        flags = [one for earlier in calls[:at] for one in Meaning(earlier, data).values("fdflags")]
        return rows.APPENDED_NOTHING if any(one & 1 for one in flags) else None
    return None
