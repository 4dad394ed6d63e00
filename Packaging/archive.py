# SPDX-License-Identifier: Apache-2.0
"""Writes archives whose bytes depend only on the names, modes and contents of their members."""

import gzip
import io
import os
import pathlib
import tarfile

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])


def _entry(name, mode, kind=tarfile.REGTYPE):
    entry = tarfile.TarInfo(name)
    entry.type = kind
    entry.mode = mode
    entry.mtime = EPOCH
    entry.uname = entry.gname = "root"
    return entry


class Tree:
    """A file tree to archive: folders, files and links by their paths."""

    def __init__(self):
        self.members = {}

    def folder(self, path, mode=0o755, owner=0):
        entry = _entry(path, mode, tarfile.DIRTYPE)
        if owner:
            entry.uid = entry.gid = owner
            entry.uname = entry.gname = ""
        self.members[path] = (entry, None)

    def file(self, path, data, mode=0o644):
        self._folders(path)
        entry = _entry(path, mode)
        entry.size = len(data)
        self.members[path] = (entry, data)

    def link(self, path, target):
        self._folders(path)
        entry = _entry(path, 0o777, tarfile.SYMTYPE)
        entry.linkname = target
        self.members[path] = (entry, None)

    def add(self, source, prefix=""):
        """Adds a folder of the disk, or one file."""
        source = pathlib.Path(source)
        for path in sorted(source.rglob("*")):
            name = prefix + str(path.relative_to(source))
            if path.is_symlink():
                self.link(name, os.readlink(path))
            elif path.is_dir():
                if name not in self.members:
                    self.folder(name)
            else:
                self.file(name, path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)

    def _folders(self, path):
        for parent in reversed(pathlib.PurePosixPath(path).parents):
            if str(parent) != "." and str(parent) not in self.members:
                self.folder(str(parent))

    def tar(self):
        """Returns the bytes of the tar archive."""
        output = io.BytesIO()
        with tarfile.open(fileobj=output, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for path in sorted(self.members):
                entry, data = self.members[path]
                archive.addfile(entry, None if data is None else io.BytesIO(data))
        return output.getvalue()


def compressed(data):
    """Returns the bytes in gzip's format, without a name or a time."""
    return gzip.compress(data, 6, mtime=0)
