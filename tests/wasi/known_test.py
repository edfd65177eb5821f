#!/usr/bin/env python3
"""What known.py lets pass, and what it doesn't: a row holds for the answers that it names alone."""

import struct
import unittest

import known
import rows
from calls import Call

PATH = {64: b"file"}
GIB = 1 << 30


def open_with(fdflags=0, lookup=0, length=4):
    return Call("path_open", [3, lookup, 64, length, 0, 66, 66, fdflags, 128])


def write(function, length, *offset):
    return Call(function, [6, 200, 1, *offset, 128]), {200: struct.pack("<II", 1000, length)}


class Known(unittest.TestCase):
    def check(self, row, mine, his, *calls, data=PATH):
        found = known.of_answers(list(calls), len(calls) - 1, data, mine, his)
        self.assertEqual(found, row, (mine, his, calls))

    def test_an_unknown_flag_is_invalid_or_a_descriptor_of_another_kind(self):
        for mine in ("INVAL", "BADF", "NOTDIR"):
            self.check(rows.UNKNOWN_FLAG, mine, "TRAP", open_with(lookup=2))
        for mine in ("SUCCESS", "NOENT", "IO"):
            self.check(None, mine, "TRAP", open_with(lookup=2))
        self.check(rows.UNKNOWN_FLAG, "INVAL", "TRAP", Call("proc_raise", [31]))
        self.check(None, "BADF", "TRAP", Call("proc_raise", [31]))
        self.check(None, "INVAL", "SUCCESS", open_with(lookup=2))

    def test_opening_to_synchronise_succeeds_or_has_an_error_of_the_path(self):
        for mine in ("SUCCESS", "NOENT", "EXIST"):
            self.check(rows.SYNC_OPEN, mine, "NOTSUP", open_with(fdflags=16))
        for mine in ("IO", "INVAL", "BADF", "MFILE"):
            self.check(None, mine, "NOTSUP", open_with(fdflags=16))
        self.check(None, "SUCCESS", "NOTSUP", open_with(fdflags=16, length=0))

    def test_of_two_errors_one_is_the_arguments_and_the_other_could_be(self):
        for mine, row in (("NOENT", rows.TWO_ERRORS), ("BADF", rows.TWO_ERRORS), ("IO", None), ("NOSPC", None)):
            self.check(row, mine, "PERM", open_with(), data={64: b"abs/"})
        self.check(None, "NOENT", "NOTDIR", open_with())

    def test_rights_are_taken_away_or_were_not_there(self):
        for mine, row in (("SUCCESS", rows.RIGHTS_SET), ("NOTCAPABLE", rows.RIGHTS_SET), ("IO", None), ("PERM", None)):
            self.check(row, mine, "NOTSUP", Call("fd_fdstat_set_rights", [3, 2, 2]))

    def test_setting_no_time_has_the_errors_of_its_path(self):
        times = Call("path_filestat_set_times", [3, 0, 64, 4, 0, 0, 0])
        for mine, row in (("NOENT", rows.NO_TIME), ("LOOP", rows.NO_TIME), ("IO", None), ("EXIST", None), ("INVAL", None)):
            self.check(row, mine, "SUCCESS", times)

    def test_a_quota_is_not_met_by_less(self):
        for size, row in ((GIB, None), (GIB + 1, rows.QUOTA), (100, None)):
            self.check(row, "DQUOT", "SUCCESS", Call("fd_filestat_set_size", [6, size]))
        for offset, row in ((GIB, rows.QUOTA), (GIB - 10, None)):
            call, data = write("fd_pwrite", 10, offset)
            self.check(row, "DQUOT", "SUCCESS", call, data=data)
        call, data = write("fd_write", 10)
        self.check(None, "DQUOT", "SUCCESS", call, data=data)
        self.check(rows.QUOTA, "DQUOT", "SUCCESS", Call("fd_seek", [6, GIB, 0, 136]), call, data=data)
        self.check(None, "DQUOT", "BADF", Call("fd_seek", [6, GIB, 0, 136]), call, data=data)


if __name__ == "__main__":
    unittest.main()
