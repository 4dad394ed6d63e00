# SPDX-License-Identifier: Apache-2.0
"""Servers under test: one with a data folder, or several nodes on one PostgreSQL."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import time

from disks import Disk

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Seconds until a node that was started must listen, and until one that was asked to exit must have exited.
STARTED, ENDED = 30, 30


class Broken(Exception):
    """The run cannot continue: a node does not start or end, or a program is missing."""


class Node:
    """`statewire serve`, with the same ports after each start."""

    def __init__(self, name, command, folder, host="127.0.0.1", prefix=()):
        self.name, self.host = name, host
        self.tcp, self.web, self.advertised = (free_port() for _ in range(3))
        self.command = [*prefix, *command, "--tcp", f"{host}:{self.tcp}", "--web", f"{host}:{self.web}"]
        self.log = os.path.join(folder, f"{name}.log")
        # What the threads of a node did that did not end by SIGTERM.
        self.errors = os.path.join(folder, f"{name}.errors")
        self.process, self.has_failed = None, False

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def start(self, waits=True):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if waits:
            self.wait_until_ready()

    def wait_until_ready(self):
        deadline = time.monotonic() + STARTED
        while True:
            try:
                socket.create_connection((self.host, self.tcp), 1).close()
                return
            except OSError:
                if not self.is_running:
                    status = self.process.returncode
                    raise Broken(f"{self.name} has ended with {status}:\n{self.last_lines()}") from None
                if time.monotonic() > deadline:
                    raise Broken(f"{self.name} does not listen:\n{self.last_lines()}") from None
            time.sleep(0.02)

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.is_running:
            self.signal(signal.SIGKILL)
            self.process.wait()

    def end(self):
        """Sends SIGTERM; returns the seconds until the node has ended, or None if it had to be killed."""
        self.signal(signal.SIGTERM)
        return self.wait_for_end()

    def wait_for_end(self):
        """Returns the seconds until the node has ended, or None if it had to be killed."""
        began = time.monotonic()
        try:
            self.process.wait(ENDED)
        except subprocess.TimeoutExpired:
            self.has_failed = True
            print(f"{self.name} did not end by SIGTERM and is killed", flush=True)
            self._write_stacks()
            self.kill()
            return None
        return time.monotonic() - began

    def _write_stacks(self):
        command = ["gdb", "--batch", "-p", str(self.process.pid), "-ex", "thread apply all backtrace 30"]
        with open(self.errors, "ab") as file, contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.DEVNULL, timeout=60)

    def last_lines(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return "".join(log.readlines()[-8:])


class Postgres:
    """The server of Tests/Postgres/server in a folder of its own."""

    script = os.path.join(ROOT, "Tests/Postgres/server")

    # Bounds what the log of transactions needs of the disk. A segment is created when it is needed, not ahead of time:
    # a full disk can then end PostgreSQL.
    settings = ("max_wal_size=128MB", "wal_recycle=off")

    def __init__(self, folder):
        self.folder = os.path.join(folder, "postgres")
        self.disk = None
        try:
            self.disk = Disk(self.folder, self.script)
        except OSError as error:
            print(f"without a full disk: {error}", flush=True)

    def start(self):
        return self._run("start", *self.settings)

    def kill(self):
        self._run("kill")

    def ensure(self):
        """Waits until PostgreSQL accepts connections; starts it again if it has ended."""
        self._run("ensure")

    def switch_log(self):
        """Lets PostgreSQL begin new segments of its log of transactions; it may have ended already."""
        with contextlib.suppress(Broken):
            self._run("switch")

    def end(self):
        try:
            self.kill()
        finally:
            if self.disk:
                self.disk.close()

    def _run(self, command, *settings):
        if not os.access(self.script, os.X_OK):
            raise Broken(f"{self.script} does not exist: several nodes need PostgreSQL")
        prefix = self.disk.prefix if self.disk else []
        run = subprocess.run([*prefix, self.script, command, self.folder, *settings], stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=300, check=False)
        if run.returncode:
            raise Broken(f"PostgreSQL, {command}: {run.stderr.strip()[-1000:]}")
        return run.stdout.strip()


def free_port():
    """Returns a free port below the range that the kernel assigns to clients."""
    while True:
        port = random.SystemRandom().randrange(15000, 32000)
        with socket.socket() as other:
            try:
                other.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
