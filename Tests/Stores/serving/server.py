# SPDX-License-Identifier: Apache-2.0
"""A server under test."""

import argparse
import atexit
import os
import socket
import subprocess
import tempfile
import time

from .client import Client

#: `program`: the server. `command`: the program of the conformance store.
OPTIONS = argparse.Namespace()


class Server:
    """A server with the kinds of some commands."""

    def __init__(self, *options: str, **stores: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.options = [OPTIONS.program, "serve", "--tcp", f"127.0.0.1:{self.port}", *options]
        for name, command in stores.items():
            self.options += ["--store", f"{name}={command}"]
        self.environment = dict(os.environ)
        self.log = tempfile.TemporaryFile()
        self.process: subprocess.Popen | None = None

    def begin(self) -> None:
        """Starts the server without waiting until it listens."""
        self.process = subprocess.Popen(
            self.options, env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log
        )
        # It does not outlive tests that are interrupted.
        atexit.register(self.process.kill)

    def start(self) -> None:
        self.begin()
        for _ in range(800):
            try:
                Client(self.port).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise TimeoutError("the server does not listen: " + self.text())

    def client(self) -> Client:
        return Client(self.port)

    def children(self) -> list[int]:
        output = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True)
        return [int(word) for word in output.stdout.split()]

    def text(self) -> str:
        # The server writes at the position of the file, so this must not move it.
        return os.pread(self.log.fileno(), 1 << 26, 0).decode(errors="replace")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process = None

    def stop(self) -> int | None:
        """Stops the server.

        Returns its exit code; None if it does not run, because it was killed or stopped before.
        """
        process, self.process = self.process, None
        if not process:
            return None
        process.terminate()
        try:
            return process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()
