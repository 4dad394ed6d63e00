# SPDX-License-Identifier: Apache-2.0
"""Runs a server, its client and measurements from /proc; needs the standard library only."""

import argparse
import json
import os
import queue
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def arguments(description, **sizes):
    """Parses the command line: the program, and an option for each size, whose value is the default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--program", default=os.path.join(ROOT, ".build/debug/statewire"),
                        help="the program to run")
    for name, default in sizes.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default,
                            help=f"default: {default}")
    parsed = parser.parse_args()
    parsed.program = os.path.abspath(parsed.program)
    return parsed


def program(description):
    """Parses the command line and returns the path of the program."""
    return arguments(description).program


class Server:
    """`statewire serve` with its own folder; `with` ends it."""

    def __init__(self, program, *options, tcp=False):
        self.folder = tempfile.mkdtemp(prefix="statewire-")
        self.program, self.options, self.tcp = program, options, tcp

    def __enter__(self):
        command = [self.program, "serve", "--data-dir", os.path.join(self.folder, "data")]
        self.errors_path = os.path.join(self.folder, "errors")
        if self.tcp:
            self.port = free_port()
            command += ["--tcp", f"127.0.0.1:{self.port}"]
        with open(self.errors_path, "wb") as errors:
            self.process = subprocess.Popen(
                command + list(self.options), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=errors)
        self.pid = self.process.pid
        if self.tcp:
            try:
                connection = connect(self.port)
            except BaseException:
                # `with` does not call `__exit__` if `__enter__` fails.
                self.process.kill()
                self.__exit__()
                raise
            self.client = Client(connection.makefile("rb"), connection.makefile("wb"))
        else:
            self.client = Client(self.process.stdout, self.process.stdin)
        return self

    def __exit__(self, *_):
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def end(self):
        """Sends SIGTERM to the server and waits for its end."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def errors(self):
        """Returns the contents of standard error."""
        with open(self.errors_path, "rb") as file:
            return file.read()

    def resident_bytes(self):
        return self.status_bytes("VmRSS")

    def peak_bytes(self):
        """Returns the peak of the resident memory since the start or since `forget_peak`."""
        return self.status_bytes("VmHWM")

    def forget_peak(self):
        with open(f"/proc/{self.pid}/clear_refs", "w") as file:
            file.write("5")

    def status_bytes(self, key):
        with open(f"/proc/{self.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(key)) * 1024

    def descriptors(self):
        """Returns the number of open descriptors."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def read_bytes(self):
        """Returns the number of bytes that the process has read since its start, from any descriptor."""
        with open(f"/proc/{self.pid}/io") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("rchar"))

    def has_open(self, path):
        folder = f"/proc/{self.pid}/fd"
        for name in os.listdir(folder):
            try:
                if os.readlink(os.path.join(folder, name)) == path:
                    return True
            except FileNotFoundError:
                pass
        return False


class Client:
    """One connection with one frame per line."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.frames = queue.Queue()
        self.last_id = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.reader:
            self.frames.put((time.monotonic(), line))
        self.frames.put((time.monotonic(), None))

    def write(self, line):
        self.writer.write(line + b"\n")
        self.writer.flush()

    def send(self, method, **params):
        """Sends a request; returns its id."""
        self.last_id += 1
        self.write(self.line(self.last_id, method, params))
        return self.last_id

    def send_all(self, requests):
        """Sends a request for each (method, params) in one write; returns the id of the last."""
        lines = []
        for method, params in requests:
            self.last_id += 1
            lines.append(self.line(self.last_id, method, params))
        self.write(b"\n".join(lines))
        return self.last_id

    def notify(self, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def receive(self, wait=60):
        """Returns the next frame, the time of its arrival and its bytes."""
        try:
            at, line = self.frames.get(timeout=wait)
        except queue.Empty:
            fail(f"no frame for {wait} seconds")
        if line is None:
            fail("the server has closed the connection")
        return json.loads(line), at, line

    def until(self, is_last, wait=60):
        """Returns all frames up to the first one for which is_last returns True."""
        frames = []
        while True:
            frame, _, _ = self.receive(wait)
            frames.append(frame)
            if is_last(frame):
                return frames

    def call(self, method, wait=60, **params):
        """Sends a request; returns its result and the frames before it."""
        number = self.send(method, **params)
        frames = self.until(lambda frame: frame.get("id") == number, wait)
        if "error" in frames[-1]:
            fail(f"{method}: {frames[-1]['error']}")
        return frames[-1]["result"], frames[:-1]

    @staticmethod
    def line(number, method, params):
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return json.dumps(request).encode()


def free_port():
    """Returns a free port below the range that the kernel assigns to clients.

    A client that repeatedly connects to a port in that range before the server listens could get the same
    port for its own end, connect to itself and occupy the port.
    """
    while True:
        port = random.randrange(15000, 32000)
        with socket.socket() as other:
            try:
                other.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def connect(port):
    deadline = time.monotonic() + 20
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                fail("the server does not listen")
            time.sleep(0.05)


def together(*tasks):
    """Runs each task in its own thread; the first failure ends the script."""
    results = queue.Queue()

    def run(task):
        try:
            task()
            results.put(None)
        except BaseException as error:  # Includes the SystemExit of `fail`.
            results.put(error)

    for task in tasks:
        threading.Thread(target=run, args=(task,), daemon=True).start()
    for _ in tasks:
        error = results.get()
        if error is not None:
            raise error


def fail(message):
    """Prints the message and ends the script with status 1."""
    sys.stdout.flush()
    print(f"FAILED: {message}", file=sys.stderr)
    sys.exit(1)


def check(holds, message):
    if not holds:
        fail(message)
