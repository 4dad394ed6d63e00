# SPDX-License-Identifier: Apache-2.0
"""A file system of limited size in memory, which a fault can fill to the last byte.

It is mounted in a mount namespace of its own, and no other process of the machine sees it. A shell holds the namespace
until its input ends. The mount disappears with the last process in it, however the run ends. Needs root and `unshare`.
"""

import contextlib
import errno
import os
import shutil
import subprocess
import time

# PostgreSQL needs about 50, and up to 128 for its log of transactions.
MEBIBYTES = 512
# Mounts, waits for the end of the input, and kills the PostgreSQL that a run left behind.
HOLD = """
mount -t tmpfs -o "size=$1m" statewire-chaos "$2/data" || exit
echo ready
cat >/dev/null
[ ! -e "$2/data/postmaster.pid" ] || "$3" kill "$2"
"""


class Disk:
    """The file system of the folder `data` in a folder of `Tests/Postgres/server`, which is `script`."""

    def __init__(self, folder, script):
        if os.geteuid() != 0:
            raise OSError("only root can mount a file system")
        if missing := [name for name in ("unshare", "nsenter") if shutil.which(name) is None]:
            raise OSError(f"the program {missing[0]} is missing (package util-linux)")
        os.makedirs(os.path.join(folder, "data"), exist_ok=True)
        # In a session of its own: an interrupt from the terminal must not end it before PostgreSQL.
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", HOLD, "sh", str(MEBIBYTES), folder, script],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        if not self.holder.stdout.readline():
            raise OSError(self.holder.communicate()[1].decode(errors="replace").strip())
        namespace = f"/proc/{self.holder.pid}"
        # The command that enters the namespace.
        self.prefix = ["nsenter", f"--mount={namespace}/ns/mnt", "--"]
        self.filler = f"{namespace}/root{folder}/data/filler"

    def fill(self, seconds):
        """Fills the file system to the last byte, and keeps it full: the space that others release is taken too."""
        deadline = time.monotonic() + seconds
        try:
            with open(self.filler, "ab", buffering=0) as file:
                while time.monotonic() < deadline:
                    _fill(file)
                    yield
                    time.sleep(0.05)
        finally:
            self.empty()

    def empty(self):
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.filler)

    def close(self):
        self.holder.stdin.close()
        self.holder.wait(30)


def _fill(file):
    size = 1 << 20
    while size:
        try:
            file.write(bytes(size))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            size //= 2
