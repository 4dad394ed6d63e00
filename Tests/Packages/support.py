# SPDX-License-Identifier: Apache-2.0
"""The packages under test, and servers that are started from them."""

import contextlib
import os
import pathlib
import platform
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(os.environ["PROGRAM"])
FOLDER = pathlib.Path(os.environ["FOLDER"])
DIST = FOLDER / "dist"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **options):
    """Runs a command and returns its output; its failure is an error with all of it."""
    ended = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        **options)
    if ended.returncode != 0:
        raise AssertionError(f"{command} ended with {ended.returncode}:\n{ended.stdout}")
    return ended.stdout


def inside(system, user, *environment):
    """The words before a command that run it as a user in another system, which has /proc as every system does."""
    enter = 'mkdir -p "$1/proc" && mount -t proc proc "$1/proc" && shift && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", enter, "sh", system, "env", "--ignore-environment", *environment,
            "/usr/sbin/chroot", f"--userspec={user}", "--groups=", system]


def package(pattern):
    """The only package whose name fits."""
    found = list(DIST.glob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def serving(command, *options, until="listening on", **more):
    """Runs a server until the end of the block, and yields its log, which has the line `until`."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [str(word) for word in [*command, *options]], stdin=subprocess.DEVNULL, stdout=log, stderr=log, **more)
        try:
            deadline = time.monotonic() + 120
            while True:
                ended = process.poll()
                log.seek(0)
                text = log.read()
                if until in text:
                    break
                if ended is not None or time.monotonic() > deadline:
                    raise AssertionError(f"{command} did not start:\n{text}")
                time.sleep(0.05)
            yield text
        finally:
            process.terminate()
            status = process.wait(timeout=60)
        if status != 0:
            log.seek(0)
            raise AssertionError(f"{command} ended with {status}:\n{log.read()}")


class PackageTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="statewire-package-"))
        # The service's user must reach what is in it.
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder)


MACHINE = platform.machine()
