# SPDX-License-Identifier: Apache-2.0
"""Runs servers on one core and the generator on another; needs the standard library only."""

import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from build import built

SERVER_CORE, OTHER_CORE = (sorted(os.sched_getaffinity(0)) * 2)[:2]


class Failure(Exception):
    """A measurement failed; the results so far are invalid."""


def take_precedence():
    """Raises the priority of the process, if the machine allows that.

    The process must lead a session: if the scheduler groups tasks by session, the priority of the
    group is decisive.
    """
    for ask in (lambda: write("/proc/self/autogroup", "-15"),
                lambda: os.setpriority(os.PRIO_PROCESS, 0, -15)):
        try:
            ask()
        except OSError:
            pass


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def processor_seconds(pid):
    """Returns the processor time of all threads of the process."""
    return time.clock_gettime(clock_of(pid))


def clock_of(pid):
    # The same computation as clock_getcpuclockid(3) on Linux; Python has no such function.
    return (~pid << 3) | 2


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def free_port():
    """Returns a free port below the range of ports that the kernel assigns to clients."""
    while True:
        port = random.randrange(15000, 32000)
        with socket.socket() as other:
            try:
                other.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def allow_descriptors():
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Server:
    """A server on a TCP port and on the servers' core; `with` ends it.

    `command` returns the words of the command for a port. The server has its own default data folder.
    """

    def __init__(self, command):
        self.command, self.port = command, free_port()

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="statewire-benchmark-")
        self.start()
        return self

    def start(self):
        self.errors = open(os.path.join(self.folder, "errors"), "ab")
        self.process = subprocess.Popen(
            [word.replace("FOLDER", self.folder) for word in self.command(self.port)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors,
            env=environment(self.folder), start_new_session=True, preexec_fn=self.prepare)
        self.pid = self.process.pid
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.__exit__()
                    raise Failure(f"{self.command(self.port)} does not listen on its port")
                time.sleep(0.02)

    def prepare(self):
        """Prepares the child process before it executes the server."""
        os.sched_setaffinity(0, {SERVER_CORE})
        allow_descriptors()
        take_precedence()

    def wait(self):
        self.process.wait()
        self.errors.close()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def environment(folder):
    # The server in Go uses one core, as all other servers do.
    return {**os.environ, "XDG_STATE_HOME": folder, "GOMAXPROCS": "1"}


def generate(way, *options, server=None, stdio=None, on_start=None):
    """Runs the generator; returns its measurements: one object, or a list if it prints several lines."""
    words = [built("generator"), way, "--core", OTHER_CORE, *options]
    folder = tempfile.mkdtemp(prefix="statewire-benchmark-")
    if server:
        words += ["--tcp", f"127.0.0.1:{server.port}", "--server", server.pid]
    else:
        words += ["--server-core", SERVER_CORE, "--stdio", "--",
                  *(word.replace("FOLDER", folder) for word in stdio)]
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=environment(folder),
                               start_new_session=True, preexec_fn=take_precedence)
    try:
        if on_start:
            on_start()
        out, errors = process.communicate(timeout=7200)
    except BaseException:
        process.send_signal(signal.SIGKILL)
        process.wait()
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if process.returncode:
        raise Failure(f"{' '.join(map(str, words))}\n{errors}")
    lines = [json.loads(line) for line in out.splitlines()]
    return lines[0] if len(lines) == 1 else lines
