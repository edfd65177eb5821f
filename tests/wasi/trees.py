"""Directories as tests want them: made from a table, and told as one."""

import dataclasses
import os
import pathlib
import shutil
import stat


@dataclasses.dataclass(frozen=True)
class Link:
    target: str


DIRECTORY = None


def make(root, table):
    """`table`: {path beneath root: bytes of a file, a Link or DIRECTORY}, parents first. A target that begins with {root} lies
    there. Whatever was at `root` goes."""
    root = pathlib.Path(root)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for name, what in table.items():
        path = root / name
        if what is DIRECTORY:
            path.mkdir()
        elif isinstance(what, Link):
            path.symlink_to(what.target.replace("{root}", str(root)))
        else:
            path.write_bytes(what)


def told(root, since):
    """{path: (what it is, content or target, links, modified)}; a time after `since` (nanoseconds) is "new". Of names that are
    the same file, each tells the others: hard links are seen."""
    root = pathlib.Path(root)
    found, first_name = {}, {}
    for folder, folders, files in os.walk(root):
        for entry in sorted(folders + files):
            path = os.path.join(folder, entry)
            status = os.lstat(path)
            name = os.path.relpath(path, root)
            same = first_name.setdefault(status.st_ino, name)
            modified = "new" if status.st_mtime_ns > since else status.st_mtime_ns
            if stat.S_ISLNK(status.st_mode):
                found[name] = ("link", os.readlink(path).replace(str(root), "{root}"), same, modified)
            elif stat.S_ISDIR(status.st_mode):
                found[name] = ("directory", "", same, modified)
            elif status.st_size > 1 << 20:
                found[name] = ("file", f"{status.st_size} bytes", same, modified)
            else:
                content = pathlib.Path(path).read_bytes() if status.st_mode & 0o400 else b"?"
                found[name] = ("file", content, same, modified)
    return found
