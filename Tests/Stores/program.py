# SPDX-License-Identifier: Apache-2.0
"""A program under test: its process, and the rules that hold for each of its lines."""

import json
import queue
import subprocess
import threading

MAXIMUM_LINE = 16 << 20
MAXIMUM_NESTING = 128


class Violation(Exception):
    """The program has broken the protocol."""


class Program:
    """A process that runs a command."""

    def __init__(self, command, patience, log):
        self.patience = patience
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0)
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._writing = []

    def send(self, data):
        """Sends bytes. The thread lets a program write while the runner writes."""
        writer = threading.Thread(target=self._write, args=(data, list(self._writing)), daemon=True)
        self._writing = [writer]
        writer.start()

    def receive(self, awaited):
        """Returns the next message and the bytes of its line."""
        try:
            line = self._lines.get(timeout=self.patience)
        except queue.Empty:
            raise Violation(f"the program has not responded to {awaited} in {self.patience} seconds") from None
        if line is None:
            raise Violation(f"the program has ended before it has responded to {awaited}")
        return message(line), line

    def has_line(self):
        return not self._lines.empty()

    def finish(self, rest):
        """Ends the input, and passes the messages that still come to a function; the program must end."""
        for writer in self._writing:
            writer.join(self.patience)
        self._process.stdin.close()
        while True:
            try:
                line = self._lines.get(timeout=self.patience)
            except queue.Empty:
                raise Violation(f"the program has not ended {self.patience} seconds after its input") from None
            if line is None:
                break
            rest(message(line))
        try:
            self._process.wait(self.patience)
        except subprocess.TimeoutExpired:
            raise Violation("the program has closed its output and has not ended") from None

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        if not self._process.stdin.closed:
            try:
                self._process.stdin.close()
            except OSError:
                pass

    def _write(self, data, earlier):
        for writer in earlier:
            writer.join()
        pieces = data if isinstance(data, list) else [data]
        try:
            for piece in pieces:
                view = memoryview(piece)
                while view:
                    view = view[self._process.stdin.write(view):]
        except (OSError, ValueError):
            pass  # The program has ended; the reader finds that.

    def _read(self):
        rest = b""
        pieces = []
        while chunk := self._process.stdout.read(1 << 16):
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                self._lines.put(b"".join([*pieces, line]))
                pieces = []
            pieces.append(rest)
        if any(pieces):
            self._lines.put(b"".join(pieces) + b"\n (the line does not end)")
        self._lines.put(None)


def message(line):
    """Returns the message of a line, which must be a response or a notification."""
    shown = line[:200]
    if len(line) > MAXIMUM_LINE:
        raise Violation(f"a line has {len(line)} bytes")
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_members)
    except (ValueError, RecursionError) as error:
        raise Violation(f"a line is not JSON: {error}: {shown!r}") from None
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise Violation(f"a line is not a JSON-RPC 2.0 object: {shown!r}")
    if _nesting(value) > MAXIMUM_NESTING:
        raise Violation(f"a line nests more than {MAXIMUM_NESTING} levels: {shown!r}")
    if "method" in value:
        if "id" in value:
            raise Violation(f"the program sends a request: {shown!r}")
        if value["method"] != "machine/send" or value.keys() != {"jsonrpc", "method", "params"}:
            raise Violation(f"the program sends an unknown notification: {shown!r}")
        return value
    if "id" not in value or ("result" in value) == ("error" in value) or len(value) != 3:
        raise Violation(f"a line is not a response with a result or an error: {shown!r}")
    error = value.get("error", {"code": 0, "message": ""})
    if not isinstance(error, dict) or type(error.get("code")) is not int or not isinstance(error.get("message"), str):
        raise Violation(f"an error has no integer code and message: {shown!r}")
    if error.keys() - {"code", "message", "data"}:
        raise Violation(f"an error has unknown members: {shown!r}")
    return value


def _no_constant(name):
    raise ValueError(f"{name} is not JSON")


def _members(pairs):
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member occurs twice")
    return members


def _nesting(value):
    depth, level = 0, [value]
    while level:
        depth += any(isinstance(item, (dict, list)) for item in level)
        level = [
            part for item in level if isinstance(item, (dict, list))
            for part in (item.values() if isinstance(item, dict) else item)]
    return depth
