# SPDX-License-Identifier: Apache-2.0
"""The attacked server, the clients that it must serve during an attack, and the tools of an attack."""

import collections
import contextlib
import multiprocessing
import os
import signal
import socket
import subprocess
import threading
import time

from hostile_client import DISCONNECTED, MIB, NOT_SERVED, WAIT, Wire
from statewire_server import Server, check, free_port

TOKENS = {name: f"token-of-the-{name}-client" for name in ("attacker", "newcomer", "second", "third")}
PING_SECONDS = 0.02


def quantile(times, part):
    return sorted(times)[min(int(len(times) * part), len(times) - 1)] if times else 0.0


def second_client(port, token, results, stop):
    """Sends an input every 20 ms. A latency starts when the input was due, so that it includes all waiting."""
    times, fault = [], None
    try:
        wire = Wire(port, token)
        wire.call("store/open", store="second", kind="todo", config={"memory": {"count": 1}})
        wire.call("store/send", store="second", input={"type": "stateRequested"}, settle=True)
        wire.call("store/subscribe", store="second")
        results.put("ready")
        due = time.monotonic()
        while not stop.is_set():
            time.sleep(max(due - time.monotonic(), 0))
            response = wire.call("store/send", store="second", input={
                "type": "todoRenamed", "id": "1", "title": f"Todo {len(times)}"})
            if "result" not in response:
                fault = f"an input got {response}"
                break
            times.append(time.monotonic() - due)
            due += PING_SECONDS
    except NOT_SERVED as error:
        fault = str(error)
    results.put((times, fault))


class SecondClient:
    """Runs the second client in a separate process, which the work of the attack does not slow down."""

    def __init__(self, port, token):
        self.results, self.stop = multiprocessing.Queue(), multiprocessing.Event()
        self.process = multiprocessing.Process(
            target=second_client, args=(port, token, self.results, self.stop), daemon=True)
        self.process.start()
        first = self.results.get(timeout=WAIT)
        check(first == "ready", f"the second client was not served before the attack: {first}")

    def ended(self):
        """Stops the client; returns the latencies and the fault, or None."""
        self.stop.set()
        outcome = self.results.get(timeout=2 * WAIT)
        self.process.join()
        return outcome


def third_client(port, stop, results):
    """Connects with a token, opens a store and sends an input, at most twice a second."""
    times, failures = [], collections.Counter()
    while not stop.is_set():
        began = time.monotonic()
        try:
            wire = Wire(port, TOKENS["third"])
            try:
                for method, params in (
                        ("session/open", {}),
                        ("store/open", {"store": "list", "kind": "todo", "config": {"memory": {"count": 2}}}),
                        ("store/send", {"store": "list", "input": {"type": "stateRequested"}, "settle": True}),
                        ("store/send", {"store": "list", "input": {"type": "todoAdded", "title": "Milk"}}),
                        ("session/close", {})):
                    wire.result(method, wait=10, **params)
            finally:
                wire.close()
            times.append(time.monotonic() - began)
        except NOT_SERVED as error:
            failures[str(error)] += 1
        stop.wait(0.5)
    results.put((times, failures))


class Attacked(Server):
    """A server with limits of `ulimit`, two files for loaders, and a record of its peak memory."""

    def __init__(self, program, limits, tokens=True):
        super().__init__(program)
        os.mkdir(os.path.join(self.folder, "files"))
        for name, size in (("large", 10 * MIB), ("piece", MIB)):
            with open(os.path.join(self.folder, "files", name), "w") as file:
                file.write(name[0] * size)
        if tokens:
            path = os.path.join(self.folder, "tokens")
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.writelines(f"{name} {token}\n" for name, token in TOKENS.items())
        self.tokens = tokens
        self.program = os.path.join(self.folder, "limited")
        with open(self.program, "w") as file:
            file.write("#!/bin/sh\n" + "".join(f"ulimit {limit}\n" for limit in ["-c 0", *limits])
                       + f'exec "{program}" "$@"\n')
        os.chmod(self.program, 0o700)

    def __enter__(self):
        self.port = free_port()
        self.options = ["--tcp", f"127.0.0.1:{self.port}", "--source-dir", os.path.join(self.folder, "files"),
                        "--source", "large=file:large", "--source", "piece=file:piece"]
        if self.tokens:
            self.options += ["--token-file", os.path.join(self.folder, "tokens")]
        os.environ["SWIFT_BACKTRACE"] = "enable=no"
        super().__enter__()
        self.peak = 0
        threading.Thread(target=self.watch, args=(self.process,), daemon=True).start()
        deadline = time.monotonic() + 60
        while self.is_alive() and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                break
            time.sleep(0.02)
        return self

    def again(self):
        """Restarts the server with the same data."""
        self.end()
        return self.__enter__()

    def is_alive(self):
        return self.process.poll() is None

    def has_died(self):
        """Waits up to a second; returns True if the server has died."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        return not self.is_alive()

    def watch(self, process):
        """Records the peak memory, which cannot be read after the process has died."""
        with contextlib.suppress(OSError, StopIteration):
            while process is self.process and process.poll() is None:
                self.peak = max(self.peak, self.peak_bytes())
                time.sleep(0.02)

    def processor_seconds(self):
        try:
            with open(f"/proc/{self.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def death(self):
        status = self.process.returncode
        return f"the server died ({signal.Signals(-status).name if status < 0 else f'exit code {status}'})"


class Arena:
    """The tools of an attack: connections as the attacker and as a newcomer, and the list of faults."""

    def __init__(self, port, tokens, server=None):
        self.port, self.tokens, self.server, self.faults = port, tokens, server, []
        self.wires, self.notes = [], []

    def attacker(self, source=None):
        return self.wire("attacker", source)

    def newcomer(self):
        return self.wire("newcomer", None)

    def unauthenticated(self):
        """Connects without a token."""
        self.wires.append(Wire(self.port))
        return self.wires[-1]

    def wire(self, name, source):
        self.wires.append(Wire(self.port, TOKENS[name] if self.tokens else None, source))
        return self.wires[-1]

    def processor_seconds(self):
        """Returns the processor time of the server; 0 if other attacks run at the same time."""
        return self.server.processor_seconds() if self.server else 0.0

    @contextlib.contextmanager
    def attacking(self):
        """A part of an attack in which the server may disconnect the attacker."""
        try:
            yield
        except DISCONNECTED as error:
            self.notes.append(f"the attacker: {error}")

    def expect(self, holds, fault):
        if not holds:
            self.faults.append(fault)

    def close(self):
        for wire in self.wires:
            wire.close()
